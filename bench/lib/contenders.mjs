// Who is measured: how each is started, and the path that it answers first.
import { join } from "node:path"
import { bundled } from "./bundle.mjs"
import { fixtures, python } from "./reference.mjs"

const server = (name) => join(import.meta.dirname, "../servers", name)
const card = "/.well-known/agent-env.json"

const node = (file, ...flags) => (port, extra = []) => [process.execPath, [file, `${port}`, ...flags, ...extra]]

const reference = (fixture) => ({
  name: "Python SDK",
  command: (port) => [python, [fixtures, "--fixture", fixture, "--port", `${port}`]],
  ready: card,
  // an interpreter has no warm-up worth its time: it gets a fifth of the requests
  share: 5
})

export const ours = { name: "ours", command: node(bundled), ready: card, debug: true }
export const oursFromDist = { name: "ours, from dist", command: node(server("ours.mjs")), ready: card, debug: true }
export const raw = { name: "raw node", command: node(server("raw.mjs")), ready: "/health" }
export const expressStateful = {
  name: "Express + SDK, stateful",
  command: node(server("express.mjs"), "stateful"),
  ready: "/health",
  debug: true
}
export const expressStateless = {
  name: "Express + SDK, stateless",
  command: node(server("express.mjs"), "stateless"),
  ready: "/health",
  stateless: true
}
/** The reference with a tool, and with a data plane. */
export const pythonTools = reference("ctx-env")
export const pythonData = reference("parcels-env")
/** Lists of many tools, with rules by role and without. */
export const toolsByRole = { name: "with rules", command: node(server("tool-lists.mjs"), "rules"), ready: card }
export const toolsForAll = { name: "without", command: node(server("tool-lists.mjs")), ready: card }
