// The reference's agents of both releases, driven by our clients; and snapshots that travel through grants, either side's agent driven by the other.
import { runRelease } from "./support/ourAgents.mjs"
import { runSnapshots } from "./support/snapshots.mjs"

export const name = "agents-python"
export const order = 72
export const quick = false

export const run = async (context) => {
  const checks = context.checks()
  await runRelease(context, checks, "reference", "0.1.379")
  await runRelease(context, checks, "founding", "0.1.270")
  await runSnapshots(context, checks)
  return checks.result()
}
