// The same seeded random requests, half of them mutated, to the reference (0.1.379) and to ours: no answer may differ, but for what
// interop/known-differences.json lists with its reason.
import { join } from "node:path"

export const name = "differential"
export const order = 90
export const quick =
  "requests: one run of 40 a fixture instead of three of 120; agents: full-agent, stream-agent and snapshot-agent alone"

/** Which fixtures of ours are compared to which of the reference's. */
const sets = [
  ["fixtures.py", [
    "parcels-env",
    "ext-env",
    "uploading-env",
    "reset-only-env",
    "ctx-env",
    "tools-only-env",
    "staging:100",
    "full-agent",
    "stream-agent",
    "snapshot-agent"
  ]],
  ["fixtures_newest.py", [
    "error-env",
    "tools-env",
    "served-tools-env",
    "hook-env",
    "multi-env",
    "served-env",
    "access-env"
  ]]
]

/** Agents that are left out of a quick run. */
const more = ["plain-agent", "echo-agent", "peer-agent", "alias-config", "secret-config", "no-readback", "live-agent"]

const compare = async (context, script, fixtures) => {
  const oracle = join(context.interop, "oracle")
  let passed = 0
  let failed
  const { code, errors } = await context.run(process.execPath, [
    join(oracle, "differential.mjs"),
    "--a",
    `'${context.python("reference")}' '${join(oracle, script)}' --fixture {fixture} --port {port}`,
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
  if (failed === undefined) throw new Error(`the differential run of ${script} ended with ${code}: ${errors}`)
  return { passed, failed }
}

export const run = async (context) => {
  let [passed, failed] = [0, 0]
  for (const [script, fixtures] of context.quick ? sets : [...sets, ["fixtures.py", more]]) {
    const counts = await compare(context, script, fixtures)
    passed += counts.passed
    failed += counts.failed
  }
  return { passed, failed, notes: [] }
}
