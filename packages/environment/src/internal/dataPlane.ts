import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type { Part } from "@effect-agentenv/protocol/Part"
import type * as Body from "@effect-agentenv/server/Body"
import type * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Json from "@effect-agentenv/server/Json"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Environment from "../Environment.ts"
import { runtimeOf, scoped } from "./callScope.ts"
import * as codec from "./codec.ts"
import { areEncoded } from "./dataParts.ts"
import type * as Gate from "./gate.ts"
import { IdempotencyKeys } from "./idempotencyKeys.ts"
import * as outcome from "./outcome.ts"
import { isRecord } from "./record.ts"
import { runTicket } from "./runner.ts"
import type * as Spans from "./spans.ts"

/** An operation of the data plane that has a handler. */
interface Operation {
  readonly method: DataPlane.Method
  /** Absent where the handler takes none, whatever the caller sends. */
  readonly decode: codec.Decoder | undefined
  /** Shares the gate with calls instead of having it alone. */
  readonly shared: boolean
  readonly effect: (params: never, exchange: Exchange.Exchange) => Effect.Effect<unknown, unknown>
}

const invalid = (id: JsonRpc.Id | null, detail: string): JsonRpc.Failure =>
  JsonRpc.failure(id, { code: JsonRpc.ErrorCode.InvalidParams, message: "invalid_request", data: { detail } })

const resetParams = codec.decoder(DataPlane.ResetParams, "ignore")

/** The seed is ours: what cannot hold one is ignored, as everything else that a reset is sent. */
const decodeReset: codec.Decoder = (params) => resetParams(isRecord(params) ? params : {})

const handlerFailed = (
  id: JsonRpc.Id | null,
  method: DataPlane.Method,
  message: string,
  error?: AgentEnvError.AgentEnvError
): JsonRpc.Failure =>
  JsonRpc.failure(id, {
    code: JsonRpc.ErrorCode.HandlerFailed,
    message,
    data: {
      code: DataPlane.ErrorCode[method],
      ...(error === undefined ? {} : { error: AgentEnvError.fields(error) })
    }
  })

/** Which operations an implementation serves, in the order of the card (B-ENV-2). */
export const servedOperations = (implementation: object): ReadonlyArray<DataPlane.Method> =>
  DataPlane.METHODS.filter((method) => Implementation.at(implementation, handlerKey[method]) !== undefined)

/** Whether `data/get` takes a grant (B-DOBJ-1). */
export const takesGrant = (implementation: object): boolean =>
  typeof Implementation.at(implementation, "get") === "function"

/** Where an implementation has the handler of an operation. */
export const handlerKey = { "data/reset": "reset", "data/add": "add", "data/get": "get" } as const

/** How the operations of one environment run. */
export const operations = (
  env: Environment.Any,
  service: Environment.HandlersService,
  gate: Gate.Gate
): ReadonlyMap<string, Operation> => {
  const { dataDrain = "10 seconds", resetDrain = "10 seconds", timeouts = {}, data } = env.episode
  const keys = new IdempotencyKeys()
  // the types of `toLayer` say what each handler takes and answers
  const handler = <F>(method: DataPlane.Method) => Implementation.at(service.implementation, handlerKey[method]) as F

  const reset = (params: DataPlane.ResetParams): Effect.Effect<unknown, unknown> => {
    type Handler = Effect.Effect<unknown, unknown> | ((request: Environment.ResetRequest) => Effect.Effect<unknown>)
    const given = handler<Handler>("data/reset")
    const run = Effect.suspend(() => {
      keys.clear()
      service.random.restart(params.seed)
      return scoped(typeof given === "function" ? given({ seed: params.seed }) : given)
    })
    return Effect.suspend(() => gate.busy ? Effect.zipRight(fence(gate, resetDrain), run) : run)
  }
  const add = (params: DataPlane.AddParams, exchange: Exchange.Exchange): Effect.Effect<unknown, unknown> => {
    type Handler = (parts: DataPlane.AddParams["parts"]) => Effect.Effect<unknown, unknown>
    const given = handler<Handler>("data/add")
    const run = Effect.suspend(() => scoped(given(params.parts)))
    const key = exchange.header("idempotency-key")
    return settled(gate, "data/add", dataDrain, key === undefined ? run : keys.once(key, params.parts, run))
  }
  const encodeGet = codec.encoder(DataPlane.GetResult, "the answer of data/get")
  const get = (): (params: DataPlane.GetParams) => Effect.Effect<unknown, unknown> => {
    type Parts = Effect.Effect<ReadonlyArray<Part>, unknown>
    const given = handler<Parts | ((request: Environment.GetRequest) => Parts)>("data/get")
    const run = (parts: Parts): Effect.Effect<unknown, unknown> => {
      const encoded = Effect.flatMap(
        scoped(parts),
        (parts) => areEncoded(parts) ? Effect.succeed({ parts }) : encodeGet({ parts })
      )
      return data === "concurrent" ? encoded : settled(gate, "data/get", dataDrain, encoded)
    }
    if (typeof given === "function") {
      return (params) => run(Effect.suspend(() => given({ writeNamespace: params.write_namespace })))
    }
    // the same for every request, so made once
    const once = run(given)
    return () => once
  }
  const effectOfGet = get()
  const all: ReadonlyArray<Operation> = [
    {
      method: "data/reset",
      decode: decodeReset,
      shared: false,
      effect: (params) => outcome.within(reset(params), "data/reset", timeouts.reset)
    },
    {
      method: "data/add",
      decode: codec.decoder(DataPlane.AddParams, "ignore"),
      shared: false,
      effect: (params, exchange) => outcome.within(add(params, exchange), "data/add", timeouts.add)
    },
    {
      method: "data/get",
      // a handler without the grant ignores it, be it well-formed or not (B-DOBJ-2)
      decode: takesGrant(service.implementation) ? codec.decoder(DataPlane.GetParams, "ignore") : undefined,
      shared: data === "concurrent",
      effect: (params) => outcome.within(effectOfGet(params), "data/get", timeouts.get)
    }
  ]
  const served = servedOperations(service.implementation)
  return new Map(all.filter(({ method }) => served.includes(method)).map((operation) => [operation.method, operation]))
}

/** `data/reset` interrupts what runs; a call that does not end makes the state untrustworthy, so the reset fails and says which. */
const fence = (gate: Gate.Gate, limit: Duration.DurationInput): Effect.Effect<void, AgentEnvError.AgentEnvError> =>
  Effect.flatMap(
    Effect.suspend(() => {
      gate.fence()
      return gate.drain(limit)
    }),
    (stuck) =>
      stuck === undefined ? Effect.void : Effect.fail(
        new AgentEnvError.AgentEnvError({
          code: "call_still_running",
          message: `'${stuck}' was interrupted by data/reset and did not end: the state can't be trusted`,
          applied: "no"
        })
      )
  )

/** `data/add` and `data/get` wait for what runs, and go ahead past the limit, so that a hung tool never hangs a rollout. */
const settled = <A, E>(
  gate: Gate.Gate,
  method: DataPlane.Method,
  limit: Duration.DurationInput,
  run: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.suspend(() =>
    gate.busy
      ? Effect.flatMap(gate.drain(limit), (running) =>
        running === undefined
          ? run
          : Effect.zipRight(Effect.logWarning(`${method} goes ahead while '${running}' still runs`), run))
      : run
  )

/** The `POST` listener of the data plane (B-ENV-3). */
export const listener = (
  served: ReadonlyMap<string, Operation>,
  calls: Calls.Calls<never>,
  gate: Gate.Gate,
  limit: number,
  trace: Spans.Run | undefined
): Exchange.Listener => {
  const answer = (exchange: Exchange.Exchange, body: Body.Body): void => {
    if (body._tag === "Aborted") return
    if (body._tag === "TooLarge") {
      return Exchange.json(
        exchange,
        413,
        JsonRpc.failure(null, {
          code: JsonRpc.ErrorCode.InvalidRequest,
          message: `the body is larger than ${body.limit} bytes`
        })
      )
    }
    const parsed = Json.parse(body.bytes)
    if (!parsed.ok) return Exchange.json(exchange, 200, unreadable(parsed, body))
    const message = parsed.value
    const id = JsonRpc.idOf(message)
    if (!isRecord(message) || message["jsonrpc"] !== "2.0" || message["method"] === undefined) {
      return Exchange.json(
        exchange,
        200,
        JsonRpc.failure(id, {
          code: JsonRpc.ErrorCode.InvalidRequest,
          message: "expected a JSON-RPC 2.0 request"
        })
      )
    }
    // a method that is no text is one that nobody implements
    const operation = served.get(message["method"] as DataPlane.Method)
    if (operation === undefined) {
      return Exchange.json(
        exchange,
        200,
        JsonRpc.failure(id, {
          code: JsonRpc.ErrorCode.MethodNotFound,
          message: "this environment does not implement the method"
        })
      )
    }
    if (operation.decode === undefined) return run(exchange, operation, id, {})
    const decoded = operation.decode(message["params"] ?? {})
    // the schemas of the data plane decode without effects
    if (!Either.isEither(decoded)) return
    if (Either.isLeft(decoded)) return Exchange.json(exchange, 200, invalid(id, codec.reasons(decoded.left)))
    run(exchange, operation, id, decoded.right)
  }
  const run = (
    exchange: Exchange.Exchange,
    operation: Operation,
    id: JsonRpc.Id | null,
    params: unknown
  ): void => {
    const ticket = operation.shared ? gate.call(operation.method) : gate.data(operation.method)
    const refuse = (): void => Exchange.json(exchange, 503, shuttingDown(id, operation.method))
    runTicket(
      calls,
      exchange,
      ticket,
      operation.effect(params as never, exchange),
      runtimeOf(calls),
      (exit) => {
        if (Exit.isSuccess(exit)) {
          const result = operation.method === "data/get" ? exit.value : {}
          return Exchange.json(exchange, 200, JsonRpc.success(id, result))
        }
        const ended = outcome.classify(exit.cause)
        if (ended._tag === "Interrupted" && !ticket.fenced) return refuse()
        Exchange.json(
          exchange,
          200,
          failed(id, operation.method, ended, () => Correlation.report(exit.cause, calls.runtime))
        )
      },
      refuse,
      trace,
      () => ({ name: operation.method, attributes: { "rpc.method": operation.method } })
    )
  }
  return (exchange) => exchange.body(limit, (body) => answer(exchange, body))
}

const failed = (
  id: JsonRpc.Id | null,
  method: DataPlane.Method,
  ended: outcome.Failed,
  correlate: () => string
): JsonRpc.Failure => {
  if (ended._tag === "Defect") return handlerFailed(id, method, correlate())
  const failure = ended._tag === "Failure" ? ended.failure : outcome.episodeReset(method)
  return handlerFailed(
    id,
    method,
    outcome.messageOf(failure),
    AgentEnvError.isAgentEnvError(failure) ? failure : undefined
  )
}

const shuttingDown = (id: JsonRpc.Id | null, method: DataPlane.Method): JsonRpc.Failure =>
  handlerFailed(id, method, "the server is shutting down")

const unreadable = (parsed: Exclude<Json.Result, { readonly ok: true }>, body: Body.Text): JsonRpc.Failure => {
  if (parsed.reason === "surrogate") {
    return invalid(JsonRpc.idOf(JSON.parse(body.text)), `${parsed.path}: holds half a surrogate pair`)
  }
  return JsonRpc.failure(null, {
    code: JsonRpc.ErrorCode.ParseError,
    message: parsed.reason === "too-deep"
      ? `the body nests deeper than ${Json.maxDepth} levels`
      : "the body is not JSON"
  })
}
