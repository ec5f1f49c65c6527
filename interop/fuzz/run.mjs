#!/usr/bin/env node
// Sends seeded, mutated requests to an environment and an agent that run as child processes, and looks for answers that nobody may give.
import { build } from "esbuild"
import { fork } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdirSync } from "node:fs"
import http from "node:http"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as agentRequests from "./agentRequests.mjs"
import { complaint, taskIdOf } from "./answers.mjs"
import * as environmentRequests from "./environmentRequests.mjs"
import { requests } from "./requests.mjs"

const targets = { environment: environmentRequests, agent: agentRequests }

const usage = `usage: npm run fuzz [-- --requests N --seed N --minutes N --target environment|agent|both]

Sends N (200,000) requests over every route of an environment and of an agent, half of them to each and half of them mutated, over 16
connections, and fails on a crash, a request without an answer in 10 seconds, a 5xx that is not typed, an answer that is not what its
content type says, a stream whose run ends never or twice, a leaked secret, a stack or a path of this machine, and on a heap that
grows. The seed is printed; the same seed sends the same requests, but for the ids of the agent's tasks.
`
const { values: args } = parseArgs({
  options: {
    requests: { type: "string", default: "200000" },
    seed: { type: "string" },
    minutes: { type: "string", default: "15" },
    target: { type: "string", default: "both" },
    help: { type: "boolean", short: "h", default: false }
  }
})
const names = args.target === "both" ? Object.keys(targets) : [args.target]
if (args.help || names.some((name) => !Object.hasOwn(targets, name))) {
  process.stdout.write(usage)
  process.exit(args.help ? 0 : 2)
}
const requested = Number(args.requests)
const seed = args.seed === undefined ? randomInt(2 ** 31) : Number(args.seed)
const deadline = Date.now() + Number(args.minutes) * 60_000
const connections = 16
const patience = 10_000

const here = import.meta.dirname
mkdirSync(join(here, "../dist"), { recursive: true })

/** A target in a process of its own. */
const start = async (name) => {
  const bundle = join(here, `../dist/fuzz-${name}.js`)
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    outfile: bundle,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "warning",
    banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" }
  })
  const child = fork(bundle, [], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, ENVIRONMENT_NAME: "" }
  })
  const state = { crashed: undefined }
  let log = ""
  child.stderr.on("data", (chunk) => (log = (log + chunk).slice(-4000)))
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.once("exit", (code, signal) => (state.crashed = `the server ended by itself (${code ?? signal})\n${log}`))
  const message = () =>
    new Promise((resolve, reject) => {
      const exit = () => reject(new Error(state.crashed))
      child.once("exit", exit)
      child.once("message", (answer) => {
        child.removeListener("exit", exit)
        resolve(answer)
      })
    })
  const interrupt = () => {
    child.kill("SIGTERM")
    process.exit(130)
  }
  process.once("SIGINT", interrupt)
  const { port } = await message()
  return {
    port,
    state,
    heap: async () => {
      const answer = message()
      child.send("heap")
      return (await answer).heap
    },
    stop: async () => {
      process.removeListener("SIGINT", interrupt)
      child.kill("SIGTERM")
      const late = setTimeout(() => child.kill("SIGKILL"), patience)
      await ended
      clearTimeout(late)
      return child.signalCode === "SIGKILL" ? "the server doesn't end when it is told to" : undefined
    }
  }
}

const describe = ({ headers, method, path, payload }) =>
  `> ${method} ${path} ${JSON.stringify(headers)}\n> ${
    payload === undefined ? "" : payload.toString("latin1").slice(0, 600)
  }`

/** Sends `total` requests to a target; answers how many were sent, and what went wrong. */
const fuzz = async (name, total) => {
  const { secrets, taskId } = targets[name]
  const { heap, port, state, stop } = await start(name)
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })

  /** One request's answer; `undefined` when the client left on purpose. */
  const send = ({ chunked, headers, leaves, method, path, payload }) =>
    new Promise((resolve, reject) => {
      const sent = { ...headers }
      if (payload !== undefined && !chunked) sent["content-length"] = payload.length
      const request = http.request({ host: "127.0.0.1", port, method, path, headers: sent, agent }, (response) => {
        const type = response.headers["content-type"] ?? ""
        const chunks = []
        response.on("data", (chunk) => chunks.push(chunk))
        response.on("end", () => resolve({ status: response.statusCode, type, bytes: Buffer.concat(chunks) }))
        response.on("error", (error) => leaves ? resolve(undefined) : reject(error))
        // an idle stream of a session is no answer to wait for
        if (type.startsWith("text/event-stream") && method === "GET") {
          request.destroy()
          resolve(undefined)
        }
      })
      const late = setTimeout(() => request.destroy(new Error(`no answer within ${patience / 1000} s`)), patience)
      request.on("close", () => clearTimeout(late))
      request.on("error", (error) => leaves ? resolve(undefined) : reject(error))
      if (payload !== undefined) request.write(payload)
      request.end()
      if (leaves) setTimeout(() => request.destroy(), 1)
    })

  // on a connection of its own: a kept one may have ended with the request before it
  const alive = () =>
    new Promise((resolve) => {
      http.get({ host: "127.0.0.1", port, path: "/health", agent: false, timeout: patience }, (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      }).on("error", () => resolve(false))
    })

  // tasks that answers told of, for requests that need one
  const known = []
  const withTask = (request) => {
    if (taskId === undefined || known.length === 0 || request.payload?.includes(taskId) !== true) return request
    const id = known[known.length === 1 ? 0 : request.payload.length % known.length]
    return { ...request, payload: Buffer.from(request.payload.toString("latin1").replaceAll(taskId, id), "latin1") }
  }

  const next = requests(targets[name], seed)
  const statuses = new Map()
  let sent = 0
  let problem
  const one = async () => {
    const number = sent++
    const request = withTask(next())
    try {
      const answer = await send(request)
      if (answer === undefined) return
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      const id = taskId === undefined ? undefined : taskIdOf(answer)
      if (id !== undefined) {
        known.push(id)
        if (known.length > 32) known.shift()
      }
      const wrong = complaint(answer, request, secrets)
      if (wrong !== undefined) {
        problem ??= `request ${number}: ${wrong}\n${describe(request)}\n< ${answer.status} ${answer.type} ${
          answer.bytes.toString().slice(0, 600)
        }`
      }
    } catch (error) {
      // a connection that ended is no failure by itself (a client may send what HTTP forbids); a server that no longer answers is
      if (error.message.startsWith("no answer") || !(await alive())) {
        if (state.crashed !== undefined) {
          problem ??= `${state.crashed}\nwhile request ${number} was on its way\n${describe(request)}`
        }
        problem ??= `request ${number}: ${error.message}\n${describe(request)}`
      }
    }
  }
  const worker = async (until) => {
    while (sent < until && problem === undefined && state.crashed === undefined && Date.now() < deadline) await one()
  }

  const started = Date.now()
  const progress = setInterval(() => {
    console.log(`  ${sent} of ${total} after ${Math.round((Date.now() - started) / 1000)} s`)
  }, 10_000)

  // the heap is compared over the second half: the first warms caches and compiled code
  const heaps = []
  for (const until of [Math.floor(total / 2), total]) {
    await Promise.all(Array.from({ length: connections }, () => worker(until)))
    if (state.crashed === undefined && problem === undefined) heaps.push(await heap())
  }
  clearInterval(progress)
  problem ??= state.crashed
  if (problem === undefined && sent < total) problem = `only ${sent} requests were sent in ${args.minutes} minutes`
  if (problem === undefined && !(await alive())) problem = "the server doesn't answer any more"
  const [middle, end] = heaps
  if (problem === undefined && end > middle * 1.1 + 2 * 1024 * 1024) {
    problem = `the heap grew from ${middle} to ${end} bytes`
  }
  agent.destroy()
  const refusal = await stop()
  problem ??= refusal

  const counts = [...statuses].toSorted((a, b) => a[0] - b[0]).map(([status, count]) => `${status}: ${count}`)
  console.log(`  ${sent} sent in ${Math.round((Date.now() - started) / 1000)} s; ${counts.join(", ")}`)
  if (heaps.length === 2) {
    console.log(`  heap after half ${(middle / 1e6).toFixed(1)} MB, at the end ${(end / 1e6).toFixed(1)} MB`)
  }
  return { sent, problem }
}

let passed = 0
let failed = 0
for (const name of names) {
  const total = Math.floor(requested / names.length)
  console.log(`fuzz ${name}: ${total} requests, seed ${seed}`)
  const { problem, sent } = await fuzz(name, total)
  if (problem !== undefined) {
    console.log(`not ok: ${problem}\nagain: npm run fuzz -- --target ${name} --seed ${seed} --requests ${total}`)
  }
  passed += problem === undefined ? sent : sent - 1
  failed += problem === undefined ? 0 : 1
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
