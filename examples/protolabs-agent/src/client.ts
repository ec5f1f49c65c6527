/**
 * Asks an agent and prints its running bill, its tool calls, and how the world that it works on changes.
 *
 * `npm run client -w examples/protolabs-agent` asks the one at `AGENT_URL` with the key in `AGENT_API_KEY`.
 */
import { AgentClient } from "@effect-agentenv/client"
import { Auth, Confidence, Cost, Read, ToolCall, WorldState } from "@effect-agentenv/protolabs"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Stream } from "effect"

const money = ({ costUsd }: Cost.Cost) => costUsd === undefined ? "an unknown sum" : `$${costUsd.toFixed(4)}`

export const ask = (order: string) =>
  Effect.gen(function*() {
    const agent = yield* AgentClient.AgentClient
    const world = yield* WorldState.WorldState
    const [costs, calls, deltas, events] = yield* Stream.broadcast(agent.stream(order), 4, 16)
    const [, , , last] = yield* Effect.all([
      Stream.runForEach(Cost.running(costs), (bill) =>
        Console.log(`  bill so far: ${bill.usage.output_tokens} tokens written, ${money(bill)} spent`)),
      Stream.runForEach(ToolCall.transitions(ToolCall.fromEvents(calls)), (call) =>
        Console.log(`  tool: ${ToolCall.isState(call) ? `${call.name} is ${ToolCall.phaseOf(call)}` : call.message}`)),
      Stream.runForEach(world.follow(deltas), ({ rejected, world }) =>
        Console.log(
          `  world: ${JSON.stringify(world)}${rejected.length === 0 ? "" : `, ${rejected.length} rejected`}`
        )),
      Stream.runLast(events)
    ], { concurrency: "unbounded" })
    const event = yield* last
    const sure = Read.match(Confidence.find(event), {
      onAbsent: () =>
        "without a confidence",
      onMalformed: ({ message }) =>
        message,
      onPresent: ({ confidence, explanation }) =>
        `confidence ${confidence}, ${explanation ?? "without a reason"}`
    })
    yield* Console.log(`  answer: ${AgentClient.text(event)} (${sure})`)
  }).pipe(Effect.scoped)

/** The world as both sides know it before the first delta. */
export const World = WorldState.layer({ dock: { freeBerths: 2, ships: [] } })

export const Agent = Layer.unwrapEffect(Effect.gen(function*() {
  const baseUrl = yield* Config.withDefault(Config.string("AGENT_URL"), "http://127.0.0.1:7870")
  const key = yield* Config.redacted("AGENT_API_KEY")
  return AgentClient.layer({ baseUrl, headers: Auth.redacted(Auth.apiKey(key)) })
})).pipe(Layer.provide(NodeHttpClient.layer))

if (process.argv[1] === import.meta.filename) {
  ask("Berth the Aster").pipe(Effect.provide(Layer.merge(Agent, World)), NodeRuntime.runMain)
}
