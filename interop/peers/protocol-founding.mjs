// The clients of agentenv_protocol 0.1.270: card, data plane, extensions.
import { runRelease } from "./support/protocolClients.mjs"

export const name = "protocol-founding"
export const order = 21
export const quick = true
export const run = (context) => runRelease(context, "founding")
