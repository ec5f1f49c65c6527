// Runs recorded cases of the protoLabs packages, each by every profile that gave its answer: vectors.mjs DIFFERENCES FILE
import { readFileSync } from "node:fs"
import { asJson, matches } from "./compare.mjs"
import { operations } from "./operations.mjs"

const [differencesFile, file] = process.argv.slice(2)
if (file === undefined) {
  console.error("usage: protolabs-vectors FILE")
  process.exit(2)
}

const parse = (path) => JSON.parse(readFileSync(path, "utf8"))
const recorded = parse(file)
const cases = Array.isArray(recorded) ? recorded : recorded.cases ?? recorded.vectors
const differences = parse(differencesFile).differences

const glob = (pattern) =>
  new RegExp(`^${pattern.split("*").map((text) => text.replaceAll(/[.?+^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "s")

const listed = differences.flatMap(({ cases, op, reason }) =>
  cases.map((name) => ({ op: glob(op), name: glob(name), reason }))
)

/** Only what no other original does may be documented as different. */
const difference = ({ name, op, profiles }) =>
  profiles.every((profile) => profile === "ts-0.1.0")
    ? listed.find((each) => each.op.test(op) && each.name.test(name))
    : undefined

const answer = ({ input, op }, profile) => {
  const operation = operations[op]
  if (operation === undefined) return { answer: `no operation ${op}` }
  try {
    return { answer: asJson(operation(structuredClone(input), profile)) }
  } catch (error) {
    return { refused: true, answer: String(error) }
  }
}

const holds = (expected, { answer, refused }) =>
  expected?.$error === true ? refused === true : refused !== true && matches(expected, answer)

let passed = 0
let failed = 0
let different = 0
for (const each of cases) {
  const wrong = each.profiles
    .map((profile) => ({ profile, ...answer(each, profile) }))
    .find((given) => !holds(each.expected, given))
  const documented = wrong === undefined ? undefined : difference(each)
  if (wrong === undefined) passed++
  else if (documented !== undefined) {
    different++
    console.log(`differs: ${each.op}: ${each.name}: ${documented.reason}`)
  } else {
    failed++
    console.log(`FAILED: ${each.op}: ${each.name} (${wrong.profile})`)
    console.log(`  expected ${JSON.stringify(each.expected)}`)
    console.log(`  got      ${JSON.stringify(wrong.answer)}`)
  }
}
console.log(`${different} documented differences`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
