// The clients of a2a-js against our agents: 1.3.0 on both of its wires, and 0.3.14.
import { runClients } from "./support/a2aChecks.mjs"
import { js03, js1 } from "./support/a2aClients.mjs"

export const name = "a2a-js"
export const order = 70
export const quick = "messages at once: 8 instead of 100; the largest file: 300 kB instead of 3 MB"
export const run = (context) => runClients(context, [js1("1.0"), js1("0.3"), js03()])
