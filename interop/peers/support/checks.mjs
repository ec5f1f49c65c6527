// Counts what a peer finds: a check passes when its function returns, and fails with what it throws.
import { deepStrictEqual, ok } from "node:assert"

export const equal = (actual, expected) => deepStrictEqual(actual, expected)

export const truthy = (value, message) => ok(value, message)

export const make = (print) => {
  let passed = 0
  let failed = 0
  const notes = []
  const record = (good, name, why) => {
    if (good) passed++
    else {
      failed++
      print(`not ok - ${name}: ${why}`)
    }
  }
  return {
    record,
    /** What counts only when it is not so. */
    demand: (good, name, why) => {
      if (!good) record(false, name, why)
    },
    note: (note) => notes.push(note),
    check: async (name, run) => {
      try {
        await run()
        record(true, name)
      } catch (error) {
        record(false, name, error instanceof Error ? error.message : String(error))
      }
    },
    result: () => ({ passed, failed, notes })
  }
}
