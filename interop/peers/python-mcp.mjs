// Python's `mcp` client, over streamable HTTP, against our servers.
import { join } from "node:path"

export const name = "python-mcp"
export const order = 10
export const quick = "calls at once: 8 instead of 200"

export const run = async (context) => {
  const checks = context.checks()
  const { url } = await context.ours("full-env")
  const program = join(import.meta.dirname, "python/mcp_client.py")
  await context.program(checks, context.python("reference"), [program, url, context.quick ? "8" : "200"])
  return checks.result()
}
