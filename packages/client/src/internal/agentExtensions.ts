import * as Contract from "@effect-agentenv/protocol/Contract"
import type * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ExtensionCallError, NotAccepted, NotAdvertised } from "../ClientError.ts"
import type { AgentOptions, Transport } from "../ExtensionClient.ts"
import * as agentPeer from "./agentPeer.ts"
import * as transport from "./extensionTransport.ts"
import * as http from "./http.ts"
import { isObject } from "./rpc.ts"
import * as secrets from "./secrets.ts"

type Entry = agentPeer.Located["extensions"][number]

/** An entry of an agent as those of environments are: `config` is another spelling of `params` (P-AG-4). */
const entryOf = ({ config, description, params, required, uri }: Entry): EnvironmentCard.ExtensionEntry => ({
  uri,
  description: typeof description === "string" ? description : null,
  params: isObject(params) ? params : isObject(config) ? config : null,
  required: typeof required === "boolean" ? required : null
})

/** The failures of agents are plain texts (B-HTTP-1 to B-HTTP-4); a page of a proxy between is none. */
const plain = (response: HttpClientResponse.HttpClientResponse, text: string): string | undefined => {
  const type = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  return type === "text/plain" && text.trim() !== "" ? text.slice(0, secrets.MAX_DETAIL) : undefined
}

/** @internal */
export const make = (
  client: HttpClient.HttpClient,
  options: AgentOptions
): Effect.Effect<Context.Tag.Service<typeof Transport>> =>
  Effect.map(
    agentPeer.make(client, {
      baseUrl: options.baseUrl,
      headers: options.headers,
      cardTimeout: options.cardTimeout ?? "10 seconds"
    }),
    (peer) => {
      const locate: transport.Peer["locate"] = (uri, name, params) =>
        Effect.flatMap(
          peer.located,
          ({ baseUrl, extensions }): Effect.Effect<transport.Place, NotAdvertised | NotAccepted> => {
            const entry = extensions.find((each) => each.uri === uri)
            if (entry === undefined) {
              return Effect.fail(new NotAdvertised({ uri, advertised: extensions.map((each) => each.uri) }))
            }
            const methods = Contract.methods(entry)
            const method = name === undefined ? methods[0] : methods.find((each) => each.name === name)
            if (method === undefined || !transport.isVerb(method.verb)) {
              const advertised = methods.map((each) => each.name)
              return Effect.fail(new NotAdvertised({ uri, operation: name ?? "(first)", advertised }))
            }
            const fields = Object.keys(params).filter((field) => params[field] !== undefined)
            return Contract.accepts(method.request, fields)
              ? Effect.succeed({
                name: method.name,
                verb: method.verb,
                url: http.resolve(baseUrl, method.endpoint)
              })
              : Effect.fail(new NotAccepted({ uri, operation: method.name, fields }))
          }
        )

      const service = transport.make({
        find: (uri) =>
          Effect.map(
            peer.located,
            ({ extensions }) => Option.map(Option.fromNullable(extensions.find((each) => each.uri === uri)), entryOf)
          ),
        locate,
        execute: peer.execute,
        plain
      }, options.timeout)
      return {
        find: service.find,
        invoke: (uri, invocation) =>
          Effect.mapError(
            service.invoke(uri, invocation),
            (error) => error instanceof ExtensionCallError ? peer.hide(error) : error
          )
      }
    }
  )
