// The processes of a run: every one that is started here is stopped by its pid, also when the run fails or is interrupted.
import { spawn } from "node:child_process"
import { createServer } from "node:net"

const running = new Set()

process.on("exit", () => {
  for (const { child } of running) child.kill("SIGKILL")
})

/** Starts a process that ends with the run at the latest. */
const start = (command, args, options) => {
  const child = spawn(command, args, options)
  const ended = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? signal))
    child.once("error", (error) => resolve(error.message))
  })
  const job = { child, ended }
  running.add(job)
  void ended.then(() => running.delete(job))
  return job
}

/** Asks a process to end, and makes it end when it takes more than three seconds. */
const stop = async (job) => {
  if (!running.has(job)) return
  job.child.kill("SIGTERM")
  const timer = setTimeout(() => job.child.kill("SIGKILL"), 3000)
  await job.ended
  clearTimeout(timer)
}

/** Stops all that still runs. */
export const stopAll = () => Promise.all(Array.from(running, stop))

/** A port of 127.0.0.1 that is free now. */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Runs a program to its end; `onLine` sees what it says on stdout, `errors` is the tail of its stderr. */
export const runToEnd = async (command, args, { env = process.env, onLine = () => {} } = {}) => {
  const job = start(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  let rest = ""
  let errors = ""
  job.child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop()
    lines.forEach(onLine)
  })
  job.child.stderr.setEncoding("utf8").on("data", (text) => {
    errors = (errors + text).slice(-4000)
  })
  const closed = new Promise((resolve) => job.child.once("close", resolve))
  const code = await job.ended
  // a program that could not be started has nothing to close
  if (job.child.pid !== undefined) await closed
  if (rest !== "") onLine(rest)
  return { code, errors }
}

/** Starts a program that answers each line of JSON with one: `{ ask(message), stop }`, one question at a time. */
export const converse = (command, args, { env = process.env } = {}) => {
  const job = start(command, args, { env, stdio: ["pipe", "pipe", "pipe"] })
  const waiting = []
  let rest = ""
  let errors = ""
  job.child.stdin.on("error", () => {})
  job.child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop()
    for (const line of lines) waiting.shift()?.resolve(JSON.parse(line))
  })
  job.child.stderr.setEncoding("utf8").on("data", (text) => {
    errors = (errors + text).slice(-4000)
  })
  let ended
  void job.ended.then((code) => {
    ended = new Error(`${command} ended with ${code}:\n${errors}`)
    for (const { reject } of waiting.splice(0)) reject(ended)
  })
  return {
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        waiting.push({ resolve, reject })
        job.child.stdin.write(`${JSON.stringify(message)}\n`)
      }),
    stop: () => stop(job)
  }
}

/** Starts a server on a free port, and waits until it answers HTTP. `launch` says how, given the port. */
export const serve = async (launch, patience = 30_000) => {
  const port = await freePort()
  const { args, command, env = process.env } = launch(port)
  const job = start(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [job.child.stdout, job.child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-4000)
    })
  }
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + patience
  let ended
  void job.ended.then((code) => {
    ended = code
  })
  for (;;) {
    if (ended !== undefined) throw new Error(`${command} ${args.join(" ")} ended with ${ended}:\n${said}`)
    const up = await fetch(`${url}/health`, { signal: AbortSignal.timeout(1000) }).then(() => true, () => false)
    if (up) return { url, port, pid: job.child.pid, said: () => said, stop: () => stop(job) }
    if (Date.now() > deadline) {
      await stop(job)
      throw new Error(`${command} ${args.join(" ")} answers nothing after ${patience} ms:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
