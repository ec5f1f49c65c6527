// The clients of agentenv_protocol 0.1.379: card, data plane, extensions with error fields, `ToolSession`.
import { runRelease } from "./support/protocolClients.mjs"

export const name = "protocol-newest"
export const order = 20
export const quick = true
export const run = (context) => runRelease(context, "reference")
