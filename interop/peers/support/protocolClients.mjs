// The reference's own clients against our servers.
import { join } from "node:path"

const run = async (context, release, program, fixtures) => {
  const checks = context.checks()
  const servers = await Promise.all(fixtures.map((fixture) => context.ours(fixture)))
  await context.program(checks, context.python(release), [
    join(import.meta.dirname, "../python", program),
    ...servers.map(({ url }) => url)
  ])
  return checks.result()
}

/** What both releases do. */
export const runRelease = (context, release) =>
  run(context, release, "protocol_client.py", [
    "full-env",
    "error-env",
    "ext-env",
    "moved-env",
    "uploading-env",
    "intake-env"
  ])

/** What 0.1.379 adds for environments. */
export const runNewest = (context) =>
  run(context, "reference", "protocol_newest.py", [
    "error-env",
    "tools-env",
    "served-tools-env",
    "hook-env",
    "multi-env",
    "served-env",
    "access-env",
    "relay-env"
  ])
