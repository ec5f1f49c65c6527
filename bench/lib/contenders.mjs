// Who is measured: how each is started, and the path that it answers first.
import { join } from "node:path"
import { bundled, bundledAgent } from "./bundle.mjs"
import { fixtures, python } from "./reference.mjs"

const server = (name) => join(import.meta.dirname, "../servers", name)
const card = "/.well-known/agent-env.json"
const agentCard = "/.well-known/agent-card.json"

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

const pythonAgent = (name, kind, share) => ({
  name,
  command: (port) => [python, [server("agent.py"), `${port}`, kind]],
  ready: agentCard,
  share
})

/** An agent that streams, and one with a configuration, triggers and live trajectories. */
export const agentPlain = { name: "ours", command: node(bundledAgent, "plain"), ready: agentCard, debug: true }
export const agentPlainV1 = { ...agentPlain, name: "ours, 1.0" }
export const agentFull = { name: "ours", command: node(bundledAgent, "full"), ready: agentCard, debug: true }
/** The official A2A SDKs by themselves, and the reference on top of the one for Python. */
export const pythonA2a = pythonAgent("Python SDK", "sdk", 5)
export const expressA2a = {
  name: "Express + SDK, 1.0",
  command: node(server("a2a-express.mjs")),
  ready: agentCard,
  debug: true
}
export const pythonReference = pythonAgent("Python reference", "reference", 5)
