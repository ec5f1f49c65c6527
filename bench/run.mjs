// Measures ours against the Python SDKs, Express with the official SDKs of MCP and A2A, and raw node, all in one run:
// `npm run bench [-- NAME …]`.
import { existsSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { bundle } from "./lib/bundle.mjs"
import { ensureReference } from "./lib/reference.mjs"
import { finishedTasks, slowReader, streams } from "./rows/agents.mjs"
import { hostile } from "./rows/hostile.mjs"
import { cardRead, configGet, dataGet, decide, messageSend, toolsCall } from "./rows/loads.mjs"
import { protolabs } from "./rows/protolabs.mjs"
import { regex } from "./rows/regex.mjs"
import { idleSession, parallel, sessions } from "./rows/sessions.mjs"
import { staging } from "./rows/staging.mjs"
import { start } from "./rows/start.mjs"
import { toolLists } from "./rows/tool-lists.mjs"
import { trajectories } from "./rows/trajectories.mjs"
import { transfers } from "./rows/transfers.mjs"

const rows = {
  "tools-call": ["CPU of the server for an MCP tools/call", toolsCall],
  "data-get": ["CPU of the server for a data/get", dataGet],
  "idle-session": ["what an idle MCP session holds", idleSession],
  start: ["start to first answer, idle memory", start],
  sessions: ["the heap after 10,000 sessions were opened and abandoned", sessions],
  parallel: ["512 clients that initialize and call at once", parallel],
  "tool-lists": ["tools/list of 500 tools with rules for 50 roles, and without", toolLists],
  transfers: ["a large object up and down over TLS, 1,000 small ones through a namespace", transfers],
  staging: ["a large object put into the staging store", staging],
  regex: ["eight patterns over 200,000 characters, and what follows a decision out of budget", regex],
  "message-send": ["CPU of an agent for a message/send to a finished task", messageSend],
  streams: ["CPU of a stream of 2,000 events, and of twice as many", streams],
  "slow-reader": ["a reader that stalls beside 99 that read", slowReader],
  "finished-tasks": ["the heap after ten times the tasks that are kept", finishedTasks],
  "config-get": ["CPU of an agent for an extension's call", configGet],
  "card-read": ["CPU of an agent for its card", cardRead],
  decide: ["CPU of a decision with one trigger", decide],
  hostile: ["256 triggers whose patterns never end", hostile],
  trajectories: ["100,000 events appended, then read page by page", trajectories],
  protolabs: ["cost read from messages of 50 parts and from an agent's events", protolabs]
}

const help = `npm run bench [-- NAME … --quick --full]

Starts every side on 127.0.0.1, loads them in turn and prints what they cost and how ours compares. It measures and does
not judge: a bound that is missed is printed as such, and the exit code is 0. Trust the ratios of one run only.

  --quick   fewer requests, smaller objects, rougher figures
  --full    objects of 1 GiB, and 4 GiB for memory, instead of a quarter of that

${Object.entries(rows).map(([name, [title]]) => `  ${name.padEnd(16)}${title}`).join("\n")}`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

if (values.help) {
  console.log(help)
  process.exit(0)
}
const unknown = positionals.find((name) => !Object.hasOwn(rows, name))
if (unknown !== undefined) {
  console.error(`no row named '${unknown}'; these are: ${Object.keys(rows).join(", ")}`)
  process.exit(2)
}
if (!existsSync(join(import.meta.dirname, "../packages/environment/dist/index.js"))) {
  console.error("the packages are not built yet: npm run build")
  process.exit(1)
}

ensureReference()
await bundle()
console.log(`node ${process.version}, ${cpus().length} CPUs, load ${loadavg()[0].toFixed(1)}`)

const missed = []
const chosen = positionals.length === 0 ? Object.keys(rows) : positionals
for (const name of chosen) {
  const [title, run] = rows[name]
  console.log(`\n${name}: ${title}`)
  if (!await run({ quick: values.quick, full: values.full })) missed.push(name)
}
console.log(missed.length === 0 ? "\nevery bound holds" : `\nmissed: ${missed.join(", ")}`)
