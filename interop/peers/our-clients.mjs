// Our clients against the reference's fixtures, on both of its releases.
import { runRelease } from "./support/ourClients.mjs"

export const name = "our-clients"
export const order = 50
export const quick = "rollouts: 3 instead of 30 a release"

export const run = async (context) => {
  const checks = context.checks()
  for (const [release, version] of [["reference", "0.1.379"], ["founding", "0.1.270"]]) {
    await runRelease(context, checks, release, version)
  }
  return checks.result()
}
