// The row of protoLabs' extensions: reading them from messages and from an agent's events, in this process.
import { Cost } from "@effect-agentenv/protolabs"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { bound, ratio, reaches, table } from "../lib/report.mjs"

const size = 50

const cost = { usage: { input_tokens: 812, output_tokens: 64 }, durationMs: 1350, costUsd: 0.0042, success: true }
const text = (index) => ({ text: `part ${index}`, mediaType: "text/plain" })
const foreign = (index) => ({
  data: { index },
  metadata: { mimeType: "application/vnd.protolabs.confidence-v1+json" },
  mediaType: "application/json"
})

/** A message as JSON.parse makes it, whose last part is the cost. */
const message = (carrier) =>
  JSON.parse(JSON.stringify(
    Cost.attach(
      {
        messageId: "m-1",
        role: "ROLE_AGENT",
        parts: Array.from({ length: carrier === "dataPart" ? size - 1 : size }, (_, i) => i % 2 ? text(i) : foreign(i))
      },
      cost,
      { carrier }
    )
  ))

const seconds = (work) => {
  const begun = performance.now()
  work()
  return (performance.now() - begun) / 1_000
}

const best = (rounds, work) => Math.min(...Array.from({ length: rounds }, () => seconds(work)))

const read = (source, times) => () => {
  for (let i = 0; i < times; i++) {
    if (Cost.find(source)._tag !== "Present") throw new Error("the cost was not found")
  }
}

const collector = () => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

/** What reading parts that don't match leaves on the heap, in bytes a part. */
const allocated = (parts, times) => {
  const gc = collector()
  const run = () => {
    for (let i = 0; i < times; i++) {
      // an iterator would leave its own results
      for (let at = 0; at < parts.length; at++) Cost.fromPart(parts[at])
    }
  }
  run()
  gc()
  const before = process.memoryUsage().heapUsed
  run()
  return Math.max(0, process.memoryUsage().heapUsed - before) / (times * parts.length)
}

const event = (index) => ({
  artifactUpdate: {
    taskId: "t-1",
    contextId: "c-1",
    artifact: Cost.attach({ artifactId: `a-${index}`, parts: [text(index)] }, cost)
  }
})

const microsPerEvent = (events, rounds) =>
  best(rounds, () => Effect.runSync(Cost.total(Stream.fromIterable(events)))) * 1e6 / events.length

export const protolabs = ({ quick }) => {
  const times = quick ? 2_000 : 20_000
  const rates = ["dataPart", "metadata"].map((carrier) => {
    const source = message(carrier)
    read(source, times)()
    return times * size / best(5, read(source, times))
  })
  const bytes = allocated(message("metadata").parts, 2_000)
  const count = quick ? 2_000 : 10_000
  const events = Array.from({ length: count * 8 }, (_, index) => event(index))
  const few = events.slice(0, count)
  microsPerEvent(few, 1)
  const [short, long] = [microsPerEvent(few, 5), microsPerEvent(events, 3)]
  table([
    [`cost of a message of ${size} parts`, "parts/s", "bytes/part"],
    ["in a data part", rates[0].toFixed(0), ""],
    ["in metadata", rates[1].toFixed(0), ""],
    ["parts that don't match", "", bytes.toFixed(2)]
  ])
  table([
    ["bill of an agent's events", "us/event", "of the shorter"],
    [`${few.length} events`, short.toFixed(2), ""],
    [`${events.length} events`, long.toFixed(2), ratio(long / short)]
  ])
  return [
    reaches("millions of parts a second", Math.min(...rates) / 1e6, 1),
    bound("bytes left by a part that doesn't match", bytes, 1),
    bound("cost of an event in 8 times as many, of one", long / short, 1.5)
  ].every((holds) => holds)
}
