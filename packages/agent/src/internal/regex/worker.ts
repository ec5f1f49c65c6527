/**
 * A thread that searches, and is ended when it takes too long.
 *
 * @since 0.1.0
 */
import { Worker } from "node:worker_threads"
import { run } from "./program.ts"
import { compileAll, search, sight, type Written } from "./search.ts"

/** What a worker is asked: a program, its patterns in JavaScript and a text; an empty one also has all of each pattern compiled. */
export interface Job {
  readonly instructions: ReadonlyArray<number>
  readonly patterns: ReadonlyArray<Written>
  readonly text: string
}

/** How a job ended: with answers; out of time, with how many answers were out and the pattern that was running; or not at all. */
export type Outcome =
  | { readonly _tag: "Answered"; readonly answers: ReadonlyArray<boolean> }
  | { readonly _tag: "Expired"; readonly answered: number; readonly pattern: number }
  | { readonly _tag: "Failed"; readonly detail: string }

/** How long a worker may take to begin with a job: a busy machine needs time to start a thread. */
const patienceMillis = 10_000

/** A worker that stops by itself between two patterns need not be ended: it gets this long to say so. */
const graceMillis = 5

/**
 * The worker's program. It is text, so that it works the same from sources, from a build and inside of a bundle, none of which have the
 * same files. `times` is shared: the moment when a job began, by the clock that all threads of a process have.
 */
const code = `"use strict"
const { parentPort, workerData } = require("node:worker_threads")
const run = (${run.toString()})
const search = (${search.toString()})
const sightOf = (${sight.toString()})
const compileAll = (${compileAll.toString()})
const { progress, times } = workerData
const compiled = new Map()
const now = () => {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}
parentPort.on("message", ({ added, budget, forget, id, instructions, patterns, text }) => {
  const began = now()
  progress[0] = 0
  progress[1] = 0
  times[0] = began
  let outcome
  try {
    if (forget) compiled.clear()
    for (const [number, written] of added) compiled.set(number, { written, standing: new Map() })
    const known = patterns.map((number) => compiled.get(number))
    if (text === "") known.forEach(compileAll)
    const sight = sightOf(text)
    const searchFor = (pattern) => search(known[pattern], sight)
    const answers = run(instructions, searchFor, progress, () => now() - began >= budget)
    outcome = answers === undefined
      ? { _tag: "Expired", answered: progress[0], pattern: progress[1] }
      : { _tag: "Answered", answers }
  } catch (error) {
    outcome = { _tag: "Failed", detail: error instanceof RangeError || error instanceof SyntaxError
      ? "a pattern needs too much memory"
      : "a pattern could not be run" }
  }
  parentPort.postMessage({ id, outcome })
})
`

const now = (): number => {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}

interface Thread {
  readonly worker: Worker
  readonly progress: Int32Array
  readonly times: Float64Array
  /** The patterns that it was told, by number: they are long, and told once. */
  readonly told: Map<Written, number>
  /** How the job that runs ends. */
  settle: ((outcome: Outcome) => void) | undefined
  id: number
}

const start = (onDeath: (thread: Thread) => void): Thread => {
  const progress = new Int32Array(new SharedArrayBuffer(8))
  const times = new Float64Array(new SharedArrayBuffer(8))
  const worker = new Worker(code, {
    eval: true,
    name: "regex",
    // neither loaders nor secrets of the process are for this thread
    execArgv: [],
    env: {},
    workerData: { progress, times },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
  })
  const thread: Thread = { worker, progress, times, told: new Map(), settle: undefined, id: 0 }
  const die = (detail: string) => {
    onDeath(thread)
    thread.settle?.({ _tag: "Failed", detail })
  }
  worker.on("message", ({ id, outcome }: { readonly id: number; readonly outcome: Outcome }) => {
    if (id === thread.id) thread.settle?.(outcome)
  })
  worker.on(
    "error",
    (error: NodeJS.ErrnoException) =>
      die(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "its worker ran out of memory" : "its worker died")
  )
  worker.on("exit", () => die("its worker died"))
  // an idle thread does not keep the process; one that is listened to does, until now
  worker.unref()
  return thread
}

/** How many patterns a worker keeps: what V8 makes of them takes memory. */
const capacity = 512

/** Has a thread run a job. */
const post = ({ id, told, worker }: Thread, { instructions, patterns, text }: Job, budget: number): void => {
  const forget = told.size > capacity
  if (forget) told.clear()
  const added: Array<readonly [number: number, written: Written]> = []
  for (const written of patterns) {
    if (told.has(written)) continue
    added.push([told.size, written])
    told.set(written, told.size)
  }
  const numbers = patterns.map((written) => told.get(written))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage({ added, budget, forget, id, instructions, patterns: numbers, text })
}

/** A worker that is replaced when it dies or has to be ended. One job at a time. */
export interface Runner {
  /** Runs a job and calls back once; the answer ends it before that. */
  readonly submit: (job: Job, budgetMillis: number, done: (outcome: Outcome) => void) => () => void
  readonly close: () => Promise<void>
}

/** Starts a runner. */
export const make = (): Runner => {
  let closed = false
  let current: Thread | undefined

  const spawn = (): Thread =>
    start((dead) => {
      if (current === dead) current = undefined
    })
  const replace = (thread: Thread): void => {
    if (current === thread) current = closed ? undefined : spawn()
    void thread.worker.terminate()
  }

  current = spawn()

  return {
    submit: (job, budgetMillis, done) => {
      const thread = current ??= spawn()
      thread.id++
      const submitted = now()
      // The time of the machine and not of the fiber's clock: what is limited is a processor that is busy. The timer also keeps the process
      // while a decision runs.
      let timer: NodeJS.Timeout
      const settle = (outcome: Outcome) => {
        clearTimeout(timer)
        thread.settle = undefined
        done(outcome)
      }
      const look = () => {
        const began = thread.times[0]!
        const left = began === 0 ? submitted + patienceMillis - now() : began + budgetMillis + graceMillis - now()
        if (left > 0) {
          timer = setTimeout(look, Math.min(left, began === 0 ? budgetMillis + graceMillis : left))
          return
        }
        const [answered, pattern] = thread.progress as unknown as readonly [number, number]
        replace(thread)
        settle(
          began === 0
            ? { _tag: "Failed", detail: "its worker did not start" }
            : { _tag: "Expired", answered, pattern }
        )
      }
      thread.times[0] = 0
      thread.settle = settle
      timer = setTimeout(look, budgetMillis + graceMillis)
      post(thread, job, budgetMillis)
      return () => {
        if (thread.settle !== settle) return
        clearTimeout(timer)
        thread.settle = undefined
        replace(thread)
      }
    },
    close: async () => {
      closed = true
      const thread = current
      current = undefined
      await thread?.worker.terminate()
    }
  }
}
