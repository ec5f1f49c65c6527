import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { NotAdvertised, Unreadable } from "../ClientError.ts"
import * as EnvironmentClient from "../EnvironmentClient.ts"
import type { Options, Transport } from "../ExtensionClient.ts"
import * as transport from "./extensionTransport.ts"
import * as http from "./http.ts"

/** @internal */
export const make = (
  client: HttpClient.HttpClient,
  options: Options
): Effect.Effect<Context.Tag.Service<typeof Transport>> =>
  Effect.gen(function*() {
    const headers = http.callerHeaders(options.caller)
    const environment = yield* EnvironmentClient.make({
      baseUrl: options.baseUrl,
      timeouts: { card: options.cardTimeout },
      caller: options.caller
    }).pipe(Effect.provideService(HttpClient.HttpClient, client))
    const known = yield* Ref.make(Option.none<EnvironmentCard.EnvironmentCard>())
    const one = yield* Effect.makeSemaphore(1)

    const readCard = Effect.flatMap(environment.card, (card) => {
      if (options.child === undefined) return Effect.succeed(card)
      const child = EnvironmentCard.findChild(card, options.child)
      return child === undefined
        ? Effect.fail(
          new Unreadable({ operation: "card", what: "the card", issues: `it has no child "${options.child}"` })
        )
        : Effect.succeed(child)
    })

    const card = one.withPermits(1)(Effect.flatMap(
      Ref.get(known),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.tap(readCard, (found) => Ref.set(known, Option.some(found)))
      })
    ))

    const locate: transport.Peer["locate"] = (uri, name) =>
      Effect.flatMap(card, (card): Effect.Effect<transport.Place, NotAdvertised> => {
        const entry = EnvironmentCard.findExtension(card, uri)
        if (entry === undefined) {
          const advertised = (card.capabilities.extensions ?? []).map((each) => each.uri)
          return Effect.fail(new NotAdvertised({ uri, advertised }))
        }
        const method = EnvironmentCard.method(entry, name)
        return method !== undefined && transport.isVerb(method.verb)
          ? Effect.succeed({
            name: method.name,
            verb: method.verb,
            url: http.resolve(options.baseUrl, method.endpoint)
          })
          : Effect.fail(
            new NotAdvertised({ uri, operation: name ?? "(first)", advertised: EnvironmentCard.methodNames(entry) })
          )
      })

    return transport.make({
      find: (uri) => Effect.map(card, (card) => Option.fromNullable(EnvironmentCard.findExtension(card, uri))),
      locate,
      execute: (request, operation) => http.execute(client, HttpClientRequest.setHeaders(request, headers), operation),
      // the answers of environments are JSON, so this is somebody else's (B-CLIENT-2)
      plain: () => undefined
    }, options.timeout)
  })
