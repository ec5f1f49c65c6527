// protoLabs' Python packages 0.2.1 and 0.3.0 beside ours: their recorded answers, their names, and what each side reads of the other's
// running agent, in data parts for 0.2.1 and in the metadata of messages and artifacts for 0.3.0.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { wrongNames } from "../protolabs/names.mjs"

export const name = "protolabs"
export const order = 97
export const quick = true

const releases = ["0.2.1", "0.3.0"]
const key = "pier-key-7"

const vectors = async (context, checks) => {
  let counts
  const { code, errors } = await context.run(join(context.interop, "protolabs-vectors"), [
    join(context.interop, "conformance/protolabs-vectors.json")
  ], {
    onLine: (line) => {
      if (/^FAILED|^ {2}(?:expected|got)|documented differences$/.test(line)) context.print(line)
      counts = /^(\d+) passed, (\d+) failed$/.exec(line) ?? counts
    }
  })
  const [, passed = 0, failed = 0] = counts ?? []
  checks.record(
    code === 0 && Number(passed) > 0 && Number(failed) === 0,
    "the recorded answers are ours",
    `${passed} passed, ${failed} failed, ended with ${code}: ${errors}`
  )
}

/** What ours reads of a stream of events. */
const reading = async () => {
  const { Confidence, Cost, Part, ToolCall, WorldstateDelta } = await import("@effect-agentenv/protolabs")
  const { Chunk, Effect, Stream } = await import("effect")
  const all = (read, events) =>
    Effect.runPromise(Effect.map(Stream.runCollect(read(Stream.fromIterable(events))), Chunk.toReadonlyArray))
  return async (events) => ({
    costs: await all(Cost.fromEvents, events),
    confidences: await all(Confidence.fromEvents, events),
    deltas: await all(WorldstateDelta.deltas, events),
    toolCalls: await all(ToolCall.fromEvents, events),
    bill: await Effect.runPromise(Cost.total(Stream.fromIterable(events))),
    answer: events.map((event) => Part.toText(event.artifact?.parts ?? [])).join("")
  })
}

const theirsToOurs = async (context, checks, release, payloadsFile) => {
  const AgentClient = await import("@effect-agentenv/client/AgentClient")
  const { AgentCard, Auth } = await import("@effect-agentenv/protolabs")
  const { FetchHttpClient } = await import("@effect/platform")
  const { Chunk, Effect, Redacted, Stream } = await import("effect")
  const payloads = JSON.parse(readFileSync(payloadsFile, "utf8"))
  const command = context.python(`protolabs-${release}`)
  const { url } = await context.serve((port) => ({
    command,
    args: [join(import.meta.dirname, "python/protolabs_agent.py"), String(port), payloadsFile],
    env: { ...process.env, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" }
  }))
  const agent = await Effect.runPromise(Effect.provide(
    AgentClient.make({ baseUrl: url, headers: Auth.redacted(Auth.apiKey(Redacted.make(key))) }),
    FetchHttpClient.layer
  ))
  const read = await reading()
  await checks.check(`${release}: its card declares all extensions to ours`, async () => {
    context.equal([...AgentCard.extensionUris(await Effect.runPromise(agent.card))].length, 4)
  })
  let events = []
  await checks.check(`${release}: its agent's stream comes to ours`, async () => {
    events = Chunk.toReadonlyArray(await Effect.runPromise(Stream.runCollect(agent.stream("Berth the Aster"))))
  })
  await checks.check(`${release}: ours reads all that its agent says, once`, async () => {
    const { answer, bill, confidences, costs, deltas, toolCalls } = await read(events)
    context.equal(costs, payloads.costs)
    context.equal(confidences, [payloads.confidence])
    context.equal(deltas, payloads.deltas)
    context.equal(toolCalls, payloads.toolCalls)
    context.equal(bill.usage, { input_tokens: 1280, output_tokens: 43, cache_read_input_tokens: 700 })
    context.equal(answer, payloads.answer)
  })
  await checks.check(`${release}: the task that is read later adds nothing, and has it all by itself`, async () => {
    const { task } = events[0]
    const later = { _tag: "Task", task: await Effect.runPromise(agent.get(task.id)) }
    context.equal((await read([...events, later])).costs, payloads.costs)
    context.equal((await read([later])).costs, payloads.costs)
    context.equal((await read([later])).toolCalls, payloads.toolCalls)
  })
}

export const run = async (context) => {
  const checks = context.checks()
  const payloadsFile = join(context.interop, "protolabs/payloads.json")
  await vectors(context, checks)
  const { url } = await context.serve((port) => ({
    command: process.execPath,
    args: [join(context.interop, "protolabs/agent.mjs"), String(port), key]
  }))
  for (const release of releases) {
    const python = context.python(`protolabs-${release}`)
    await checks.check(`${release}: the README's table has all its names`, () => {
      context.equal(wrongNames(python), [])
    })
    await context.program(checks, python, [
      join(import.meta.dirname, "python/protolabs_client.py"),
      url,
      key,
      payloadsFile
    ])
    await theirsToOurs(context, checks, release, payloadsFile)
  }
  await context.program(checks, context.python("reference"), [
    join(import.meta.dirname, "python/protolabs_card.py"),
    url
  ])
  return checks.result()
}
