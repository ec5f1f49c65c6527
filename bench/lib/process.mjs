// The servers' processes, and what the system says about them.
import { execFileSync, spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { send } from "./http.mjs"

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const ticksPerSecond = existsSync("/proc/self/stat") ? Number(execFileSync("getconf", ["CLK_TCK"])) : undefined

/** The processor time of a process so far, in microseconds. */
export const cpuOf = (pid) => {
  if (ticksPerSecond !== undefined) {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // fields 14 and 15, counted behind the name, which may hold spaces
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond * 1e6
  }
  const seconds = execFileSync("ps", ["-o", "time=", "-p", `${pid}`], { encoding: "utf8" }).trim().split(":")
  return seconds.reduce((sum, part) => sum * 60 + Number(part), 0) * 1e6
}

/** The resident memory of a process, in bytes. */
export const residentOf = (pid) =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" })) * 1024

/** Starts a contender and waits for its first answer; `startMillis` is how long that took. */
export const start = async (contender, extra) => {
  const port = await freePort()
  const [command, args] = contender.command(port, extra)
  const begun = performance.now()
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] })
  let complaint = ""
  child.stderr.on("data", (chunk) => {
    complaint = (complaint + chunk).slice(-4_000)
  })
  let ended = false
  const exit = new Promise((resolve) =>
    child.on("exit", () => {
      ended = true
      resolve()
    })
  )
  const stop = async () => {
    if (!ended) child.kill("SIGTERM")
    const hard = setTimeout(() => child.kill("SIGKILL"), 5_000)
    await exit
    clearTimeout(hard)
  }
  for (;;) {
    if (ended) throw new Error(`${contender.name} ended before it answered:\n${complaint}`)
    const answer = await send(port, contender.ready).catch(() => undefined)
    if (answer?.status === 200) break
    if (performance.now() - begun > 60_000) {
      await stop()
      throw new Error(`${contender.name} did not answer within a minute:\n${complaint}`)
    }
    await sleep(4)
  }
  const startMillis = performance.now() - begun
  return {
    contender,
    pid: child.pid,
    port,
    startMillis,
    cpu: () => cpuOf(child.pid),
    resident: () => residentOf(child.pid),
    /** The heap in use once nothing is left to be collected, in bytes. */
    heap: async () => {
      // what is freed by finalizers needs a second round
      await send(port, "/bench/memory")
      await sleep(100)
      return JSON.parse((await send(port, "/bench/memory")).text).heapUsed
    },
    stop
  }
}

/** Starts contenders, uses them, and stops them whatever happens. */
export const withServers = async (contenders, use, extra) => {
  const servers = []
  try {
    for (const contender of contenders) servers.push(await start(contender, extra?.(contender)))
    return await use(servers)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}
