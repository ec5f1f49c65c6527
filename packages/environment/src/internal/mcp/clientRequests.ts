import * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type ClientFeatures, ClientRequestError } from "../../ToolCall.ts"
import { type Json, objectAt } from "./messages.ts"
import type { Request } from "./request.ts"
import { Feature, type Session } from "./sessions.ts"

/** Reads from the capabilities of an `initialize` what its client can be asked for. */
export const featuresOf = (capabilities: Json): number =>
  (capabilities["elicitation"] === undefined ? 0 : Feature.elicit) |
  (capabilities["sampling"] === undefined ? 0 : Feature.sample) |
  (capabilities["roots"] === undefined ? 0 : Feature.roots)

const gone = (method: string): ClientRequestError =>
  new ClientRequestError({ method, message: "the client's session or the call ended before it answered" })

const refused = (method: string, error: Json): ClientRequestError => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  return new ClientRequestError({
    method,
    ...(typeof code === "number" ? { code } : {}),
    message: typeof message === "string" ? message : "the client refused"
  })
}

/** Sends a request of ours on the stream of the call it serves, and awaits the client's answer, which is a POST of its own. */
const ask = <A, I>(
  request: Request,
  session: Session,
  method: string,
  params: object | undefined,
  schema: Schema.Schema<A, I>
): Effect.Effect<A, ClientRequestError> =>
  Effect.async<unknown, ClientRequestError>((resume) => {
    if (session.closed || request.ended) return resume(Effect.fail(gone(method)))
    const id = session.expect((response) => {
      if (response === undefined) return resume(Effect.fail(gone(method)))
      const error = objectAt(response, "error")
      resume(error === undefined ? Effect.succeed(response["result"]) : Effect.fail(refused(method, error)))
    })
    request.say(params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params })
    return Effect.sync(() => {
      if (!session.forget(id)) return
      request.notify(Mcp.Method.Cancelled, { requestId: id, reason: "the answer is no longer needed" })
    })
  }).pipe(
    Effect.flatMap((result) =>
      Either.mapLeft(
        Schema.decodeUnknownEither(schema)(result),
        () => new ClientRequestError({ method, message: "the client's answer cannot be read" })
      )
    )
  )

const none: ClientFeatures = { elicit: Option.none(), sample: Option.none(), roots: Option.none() }

/** What the client of a request can be asked for while it is answered. */
export const featuresFor = (request: Request): ClientFeatures => {
  const session = request.session
  if (session === undefined || session.features === 0 || !request.canStream) return none
  const can = <A>(feature: number, use: A): Option.Option<A> =>
    (session.features & feature) === 0 ? Option.none() : Option.some(use)
  return {
    elicit: can(Feature.elicit, (params) => ask(request, session, Mcp.Method.Elicit, params, Mcp.ElicitResult)),
    sample: can(
      Feature.sample,
      (params) => ask(request, session, Mcp.Method.CreateMessage, params, Mcp.CreateMessageResult)
    ),
    roots: can(Feature.roots, ask(request, session, Mcp.Method.RootsList, undefined, Mcp.ListRootsResult))
  }
}
