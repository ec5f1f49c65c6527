// The reference's own clients, of one release, against our servers.
import { join } from "node:path"

const fixtures = ["full-env", "error-env", "ext-env", "moved-env", "uploading-env", "intake-env"]

export const runRelease = async (context, release) => {
  const checks = context.checks()
  const servers = await Promise.all(fixtures.map((fixture) => context.ours(fixture)))
  const program = join(import.meta.dirname, "../python/protocol_client.py")
  await context.program(checks, context.python(release), [program, ...servers.map(({ url }) => url)])
  return checks.result()
}
