// Clients that are measured: processes that are asked in lines of JSON, one question at a time.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { cpuOf, residentOf } from "./process.mjs"

/** Without a process for the question, where the system says it in a file. */
const resident = (pid) => {
  const file = `/proc/${pid}/status`
  return existsSync(file) ? Number(/VmRSS:\s*(\d+)/.exec(readFileSync(file, "utf8"))?.[1]) * 1024 : residentOf(pid)
}

/** The most that a process holds while `work` goes on, in bytes. */
export const peak = async (pid, work) => {
  let most = resident(pid)
  const timer = setInterval(() => {
    most = Math.max(most, resident(pid))
  }, 20)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return most
}

export const startWorker = (name, command, args, env = {}) => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let complaint = ""
  child.stderr.on("data", (chunk) => {
    complaint = (complaint + chunk).slice(-4_000)
  })
  child.stdin.on("error", () => {})
  const exit = new Promise((resolve) => child.on("exit", resolve))
  const next = async () => {
    const { done, value } = await lines.next()
    if (done) throw new Error(`${name} ended:\n${complaint}`)
    return JSON.parse(value)
  }
  return {
    name,
    /** What it says first, if it says something by itself. */
    greeting: next,
    ask: async (message) => {
      child.stdin.write(`${JSON.stringify(message)}\n`)
      const answer = await next()
      if ("value" in answer) return answer.value
      throw new Error(`${name}, ${message.step}: ${JSON.stringify(answer)}`)
    },
    cpu: () => cpuOf(child.pid),
    resident: () => resident(child.pid),
    peak: (work) => peak(child.pid, work),
    stop: async () => {
      child.kill("SIGTERM")
      await exit
    }
  }
}
