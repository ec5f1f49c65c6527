#!/usr/bin/env node
// Sends seeded, mutated requests to an environment that runs as a child process, and looks for answers that nobody may give.
import { build } from "esbuild"
import { fork } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdirSync } from "node:fs"
import http from "node:http"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { requests, secrets } from "./requests.mjs"

const usage = `usage: npm run fuzz [-- --requests N --seed N --minutes N]

Sends N (200,000) requests over every route of an environment, half of them mutated, over 16 connections, and fails on a crash, a
request without an answer in 10 seconds, a 5xx that is not typed, an answer that is not what its content type says, a leaked secret,
a stack or a path of this machine, and on a heap that grows. The seed is printed; the same seed sends the same requests.
`
const { values: args } = parseArgs({
  options: {
    requests: { type: "string", default: "200000" },
    seed: { type: "string" },
    minutes: { type: "string", default: "15" },
    help: { type: "boolean", short: "h", default: false }
  }
})
if (args.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const total = Number(args.requests)
const seed = args.seed === undefined ? randomInt(2 ** 31) : Number(args.seed)
const deadline = Date.now() + Number(args.minutes) * 60_000
const connections = 16
const patience = 10_000

const here = import.meta.dirname
const bundle = join(here, "../dist/fuzz.js")
mkdirSync(join(here, "../dist"), { recursive: true })
await build({
  entryPoints: [join(here, "environment.ts")],
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
let log = ""
child.stderr.on("data", (chunk) => (log = (log + chunk).slice(-4000)))
let crashed
child.once("exit", (code, signal) => (crashed = `the server ended by itself (${code ?? signal})\n${log}`))
const message = () =>
  new Promise((resolve, reject) => {
    child.once("message", resolve)
    child.once("exit", () => reject(new Error(crashed)))
  })
const stop = () => child.kill("SIGTERM")
process.once("SIGINT", () => {
  stop()
  process.exit(130)
})

const { port } = await message()
const heap = async () => {
  const answer = message()
  child.send("heap")
  return (await answer).heap
}

const agent = new http.Agent({ keepAlive: true, maxSockets: connections })

/** One request's answer; `undefined` when the client left on purpose. */
const send = ({ chunked, headers, leaves, method, path, payload }) =>
  new Promise((resolve, reject) => {
    const sent = { ...headers }
    if (payload !== undefined && !chunked) sent["content-length"] = payload.length
    const request = http.request({ host: "127.0.0.1", port, method, path, headers: sent, agent }, (response) => {
      const type = response.headers["content-type"] ?? ""
      const chunks = []
      const done = () => resolve({ status: response.statusCode, type, bytes: Buffer.concat(chunks) })
      response.on("data", (chunk) => chunks.push(chunk))
      response.on("end", done)
      response.on("error", reject)
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

const parse = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const typed = (body) =>
  body !== undefined && (body.error?.code !== undefined || typeof body.detail === "string" || body.status === "ok")

const leak = /\n\s+at [^\n]+:\d+:\d+|node:internal|\/node_modules\/|file:\/\/\//

/** What is wrong with an answer, if anything. */
const complaint = ({ bytes, status, type }) => {
  const text = bytes.toString("utf8")
  if (!Buffer.from(text).equals(bytes)) return "it is not valid UTF-8"
  if (leak.test(text)) return "it shows a stack or a path"
  for (const secret of secrets) {
    if (text.includes(secret)) return `it shows the secret ${secret}`
  }
  const body = type.startsWith("application/json") ? parse(text) : undefined
  if (type.startsWith("application/json") && bytes.length > 0 && body === undefined) {
    return "it is not the JSON that it claims to be"
  }
  if (status >= 500 && !typed(body)) return "it is a 5xx without a typed error"
  return undefined
}

const next = requests(seed)
let sent = 0
let problem
const statuses = new Map()
const one = async () => {
  const number = sent++
  const request = next()
  try {
    const answer = await send(request)
    if (answer === undefined) return
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const wrong = complaint(answer)
    if (wrong !== undefined) {
      problem ??= `request ${number}: ${wrong}\n${describe(request)}\n< ${answer.status} ${answer.type} ${
        answer.bytes.toString().slice(0, 600)
      }`
    }
  } catch (error) {
    // a connection that ended is no failure by itself (a client may send what HTTP forbids); a server that no longer answers is
    if (error.message.startsWith("no answer") || !(await alive())) {
      if (crashed !== undefined) problem ??= `${crashed}\nwhile request ${number} was on its way\n${describe(request)}`
      problem ??= `request ${number}: ${error.message}\n${describe(request)}`
    }
  }
}
const worker = async (until) => {
  while (sent < until && problem === undefined && crashed === undefined && Date.now() < deadline) await one()
}
// on a connection of its own: a kept one may have ended with the request before it
const alive = () =>
  new Promise((resolve) => {
    http.get({ host: "127.0.0.1", port, path: "/health", agent: false, timeout: patience }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on("error", () => resolve(false))
  })
const describe = ({ headers, method, path, payload }) =>
  `> ${method} ${path} ${JSON.stringify(headers)}\n> ${
    payload === undefined ? "" : payload.toString("latin1").slice(0, 600)
  }`

console.log(`fuzz: ${total} requests, seed ${seed}`)
const started = Date.now()
const progress = setInterval(() => {
  console.log(`  ${sent} of ${total} after ${Math.round((Date.now() - started) / 1000)} s`)
}, 10_000)

// the heap is compared over the second half: the first warms caches and compiled code
const heaps = []
for (const until of [Math.floor(total / 2), total]) {
  await Promise.all(Array.from({ length: connections }, () => worker(until)))
  if (crashed === undefined && problem === undefined) heaps.push(await heap())
}
clearInterval(progress)
problem ??= crashed
if (problem === undefined && sent < total) problem = `only ${sent} requests were sent in ${args.minutes} minutes`
const [middle, end] = heaps
if (problem === undefined && end > middle * 1.1 + 2 * 1024 * 1024) {
  problem = `the heap grew from ${middle} to ${end} bytes`
}
stop()
agent.destroy()

const counts = [...statuses].toSorted((a, b) => a[0] - b[0]).map(([status, count]) => `${status}: ${count}`).join(", ")
console.log(`  ${sent} sent in ${Math.round((Date.now() - started) / 1000)} s; ${counts}`)
if (heaps.length === 2) {
  console.log(`  heap after half ${(middle / 1e6).toFixed(1)} MB, at the end ${(end / 1e6).toFixed(1)} MB`)
}
if (problem !== undefined) console.log(`not ok: ${problem}\nagain: npm run fuzz -- --seed ${seed} --requests ${total}`)
console.log(`${problem === undefined ? sent : sent - 1} passed, ${problem === undefined ? 0 : 1} failed`)
process.exit(problem === undefined ? 0 : 1)
