// The same seeded random requests, half of them mutated, to the reference (0.1.379) and to ours: no answer may differ, but for what
// interop/known-differences.json lists with its reason.
import { join } from "node:path"

export const name = "differential"
export const order = 90
export const quick = "requests: one run of 40 a fixture instead of three of 120"

const fixtures = [
  "parcels-env",
  "ext-env",
  "uploading-env",
  "reset-only-env",
  "ctx-env",
  "tools-only-env",
  "staging:100"
]

export const run = async (context) => {
  const oracle = join(context.interop, "oracle")
  const python = context.python("reference")
  let passed = 0
  let failed
  const { code, errors } = await context.run(process.execPath, [
    join(oracle, "differential.mjs"),
    "--a",
    `'${python}' '${join(oracle, "fixtures.py")}' --fixture {fixture} --port {port}`,
    "--b",
    `'${join(context.interop, "fixture")}' {fixture} {port}`,
    "--fixtures",
    fixtures.join(","),
    "--known",
    join(context.interop, "known-differences.json"),
    "--seed",
    String(context.seed),
    ...(context.quick ? ["--runs", "1", "--steps", "40"] : [])
  ], {
    onLine: (line) => {
      const counts = /^(\d+) passed, (\d+) failed$/.exec(line)
      if (counts === null) return context.print(line)
      passed = Number(counts[1])
      failed = Number(counts[2])
    }
  })
  if (failed === undefined) throw new Error(`the differential run ended with ${code}: ${errors}`)
  return { passed, failed, notes: [] }
}
