// Drives real peers against our servers, and our clients against theirs: npm run interop [-- OPTIONS]
import { randomInt } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Context from "./peers/support/context.mjs"
import * as processes from "./peers/support/processes.mjs"

const here = import.meta.dirname

const fail = (message) => {
  console.error(message)
  process.exit(2)
}

const options = () => {
  try {
    return parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string" },
        seed: { type: "string" },
        help: { type: "boolean", short: "h", default: false }
      }
    }).values
  } catch (error) {
    return fail(error.message)
  }
}

/**
 * A step is a module of `peers` that exports `name`, `order`, `quick` and `run(context)`, by name or as its default, and resolves to
 * `{ passed, failed, notes }`. `quick` is `true` when a quick run does all of it, `false` when it does nothing, else what it leaves out.
 */
const steps = async () => {
  const files = readdirSync(join(here, "peers")).filter((file) => file.endsWith(".mjs"))
  const found = await Promise.all(files.map(async (file) => {
    const module = await import(join(here, "peers", file))
    return module.default ?? module
  }))
  return found.toSorted((a, b) => a.order - b.order)
}

const { help, only, quick, seed: given } = options()
const all = await steps()

if (help) {
  console.log(`npm run interop [-- OPTIONS]

Drives real peers against our servers, and our clients against the reference's, each on a free port of 127.0.0.1. The peers'
Python environments (interop/.venv-*) are made on first use. Closes with 'N passed, N failed'; exits 1 when one fails.

  --quick        every peer once, with small counts; says what it leaves out
  --only PEERS   names of peers, separated by commas: ${all.map(({ name }) => name).join(", ")}
  --seed N       where randomness starts from (default: a fresh one, which is printed)
  --help         this`)
  process.exit(0)
}

if (given !== undefined && !/^\d{1,9}$/.test(given)) {
  fail(`--seed takes a whole number of at most nine digits, not '${given}'`)
}
const seed = given === undefined ? randomInt(1_000_000_000) : Number(given)
const wanted = only?.split(",").map((name) => name.trim())
for (const name of wanted ?? []) {
  if (!all.some((step) => step.name === name)) {
    fail(`no peer named '${name}'; these are: ${all.map((step) => step.name).join(", ")}`)
  }
}
if (!existsSync(join(here, "dist/fixture.js"))) fail("the fixtures are not built yet: npm run build")

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]]) {
  process.once(signal, () => {
    console.error(`\n${signal}: stopping what was started`)
    void processes.stopAll().then(() => process.exit(code))
  })
}

console.log(`seed ${seed}${quick ? ", quick" : ""}`)
const totals = []
for (const step of wanted === undefined ? all : all.filter(({ name }) => wanted.includes(name))) {
  if (quick && step.quick === false) {
    console.log(`\n== ${step.name}: left out of a quick run`)
    continue
  }
  console.log(`\n== ${step.name}`)
  if (quick && typeof step.quick === "string") console.log(`   left out: ${step.quick}`)
  const started = performance.now()
  const print = (line) => console.log(`   ${String(line).replaceAll("\n", "\n   ")}`)
  const { context, release } = Context.make({ print, quick, seed })
  let result
  try {
    result = await step.run(context)
  } catch (error) {
    print(`not ok - ${error instanceof Error ? error.stack : error}`)
    result = { passed: 0, failed: 1, notes: [] }
  } finally {
    await release()
  }
  for (const note of result.notes ?? []) print(note)
  const took = ((performance.now() - started) / 1000).toFixed(1)
  print(`${result.passed} passed, ${result.failed} failed (${took} s)`)
  totals.push({ name: step.name, ...result })
}

const sum = (key) => totals.reduce((total, step) => total + step[key], 0)
const failed = totals.filter((step) => step.failed > 0).map(({ name }) => name)
console.log(
  `\n${failed.length === 0 ? "" : `failed: ${failed.join(", ")}\n`}${sum("passed")} passed, ${sum("failed")} failed`
)
// a peer's client may keep a connection alive
process.exit(failed.length === 0 && totals.length > 0 ? 0 : 1)
