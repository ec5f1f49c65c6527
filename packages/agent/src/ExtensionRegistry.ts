/**
 * The extensions that an agent serves: who answers each operation, and what its card says of them.
 *
 * @since 0.1.0
 */
import * as Contract from "@effect-agentenv/protocol/Contract"
import * as Extension from "@effect-agentenv/protocol/Extension"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { answer } from "./internal/extensionCall.ts"
import * as checks from "./internal/extensionChecks.ts"
import * as handlers from "./internal/extensionHandlers.ts"
import { takesNothing } from "./internal/extensionRequest.ts"
import { RegistryError } from "./RegistryError.ts"

/**
 * An extension as the agent's card shows it (B-CARD-7). `required` is there when the definition says so.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly uri: string
  readonly description?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly required?: boolean
}

/**
 * An operation that the author answers instead of the library.
 *
 * @since 0.1.0
 * @category models
 */
export interface Override {
  readonly uri: string
  readonly operation: string
}

/**
 * Where an agent differs from what the library does by itself, in the order of declaration (B-REG-14).
 *
 * @since 0.1.0
 * @category models
 */
export interface Conformance {
  readonly standard_operation_overrides: ReadonlyArray<Override>
}

/**
 * An operation that is served. `call` reads what was sent, a body's fields or a query's, runs the handler in a scope of its own and
 * gives the JSON text of its answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Served {
  readonly uri: string
  /** Its name on the wire. */
  readonly name: string
  readonly method: Operation.Method
  readonly path: string
  readonly takesNothing: boolean
  readonly call: (sent: Readonly<Record<string, unknown>>) => Effect.Effect<string, unknown>
}

/**
 * What `make` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Registry {
  readonly entries: ReadonlyArray<Entry>
  readonly routes: ReadonlyArray<Served>
  readonly conformance: Conformance
  /** A sentence for each override; they are logged too. */
  readonly warnings: ReadonlyArray<string>
}

/**
 * The extensions of the agent that is served here.
 *
 * @since 0.1.0
 * @category tags
 */
export class ExtensionRegistry
  extends Context.Tag("@effect-agentenv/agent/ExtensionRegistry")<ExtensionRegistry, Registry>()
{}

/**
 * A route that is the server's own: a path, or all paths that begin with a prefix, for one verb or for all (B-REG-19, B-REG-20). Who
 * claims `GET` has `HEAD` too.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reserved {
  readonly method: Operation.Method | "*"
  readonly path?: string | undefined
  readonly prefix?: string | undefined
  /** Who it belongs to, as the error says it. */
  readonly owner: string
}

/**
 * What `make` takes. `implementations` are the author's by URI, as their layers provide them; `defaults` the library's by URI, in the
 * shape of `toLayer`'s argument: an operation of the library that they leave out is not served. `configContract` says what of the
 * configuration stands on the card (B-CARD-10); without one the agent has no configuration.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly agent: string
  readonly extensions: ReadonlyArray<Extension.Any>
  readonly implementations: Readonly<Record<string, Extension.HandlersService | undefined>>
  readonly defaults: Readonly<Record<string, unknown>>
  readonly reserved: ReadonlyArray<Reserved>
  readonly configContract?: Contract.ConfigRequest | undefined
}

const configUri = "urn:agentenv:agent-config/v1"
const stagingUri = "urn:agentenv:staging/v1"

const subjectOf = (uri: string, operation?: string | undefined): string =>
  operation === undefined ? `extension '${uri}'` : `extension '${uri}', operation '${operation}'`

const methodOf = (
  served: handlers.Served,
  path: string,
  endpoint: string,
  request: Contract.ConfigRequest | undefined
): Contract.Method => {
  const takes = request ?? Contract.request(served.operation, Array.from(served.handlers.keys()))
  const answers = Contract.response(served.operation)
  return {
    method: served.operation.method,
    ...(path === endpoint ? {} : { endpoint: path }),
    ...(takes === undefined ? {} : { request: takes }),
    ...(answers === undefined ? {} : { response: answers })
  }
}

const entryOf = (
  extension: Extension.Any,
  endpoint: string | undefined,
  methods: ReadonlyMap<string, Contract.Method>,
  more: Readonly<Record<string, unknown>>
): Entry => {
  const { endpoint: _endpoint, methods: _methods, ...params } = { ...extension.params, ...more }
  const description = extension.description ??
    Object.values(extension.operations).find((operation) => operation.description !== undefined)?.description
  return {
    uri: extension.uri,
    ...(description === undefined ? {} : { description }),
    params: {
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(methods.size === 0 ? {} : { methods: Object.fromEntries(methods) }),
      ...params
    },
    ...(extension.required === undefined ? {} : { required: extension.required })
  }
}

/** What claims a path and a verb, in words; `undefined` when nobody does. */
const claimed = (served: Served, reserved: ReadonlyArray<Reserved>): string | undefined => {
  const claim = reserved.find(({ method, path, prefix }) =>
    (method === "*" || method === served.method) &&
    (path === served.path || prefix !== undefined && served.path.startsWith(prefix))
  )
  return claim?.owner
}

/** What nobody lists by themselves (B-REG-24, B-CARD-6). */
const ownProblem = (extension: Extension.Any, options: Options): checks.Problem | undefined => {
  if (extension.uri === stagingUri) {
    return { problem: "it comes with the server", mend: "leave it out" }
  }
  return extension.uri === configUri && options.configContract === undefined
    ? { problem: "it is derived from the agent's config, of which there is none", mend: "give the agent a config" }
    : undefined
}

const collisionOf = (
  routes: ReadonlyArray<Served>,
  reserved: ReadonlyArray<Reserved>
): { readonly served: Served; readonly owner: string } | undefined => {
  const taken = new Map<string, Served>()
  for (const served of routes) {
    const owner = claimed(served, reserved)
    if (owner !== undefined) return { served, owner }
    const route = `${served.method} ${served.path}`
    const other = taken.get(route)
    if (other !== undefined) return { served, owner: subjectOf(other.uri, other.name) }
    taken.set(route, served)
  }
  return undefined
}

const listedTwice = (extensions: ReadonlyArray<Extension.Any>): Extension.Any | undefined =>
  extensions.find(({ uri }, index) => extensions.findIndex((each) => each.uri === uri) !== index)

interface Resolved {
  readonly entry: Entry
  readonly routes: ReadonlyArray<Served>
  readonly overrides: ReadonlyArray<Override>
}

/** One extension: who answers what, and its entry. */
const resolve = (
  extension: Extension.Any,
  options: Options,
  refuse: (problem: checks.Problem, operation?: string | undefined) => RegistryError
): Effect.Effect<Resolved, RegistryError> =>
  Effect.gen(function*() {
    const { uri } = extension
    const problem = checks.extensionProblem(extension) ?? ownProblem(extension, options)
    if (problem !== undefined) return yield* refuse(problem)
    const more = yield* Effect.mapError(checks.cardParams(extension), (problem) => refuse(problem))
    const standard = Extension.isStandard(extension)
    const chosen = yield* Effect.try({
      try: () => handlers.choose(extension, standard, options.implementations[uri], options.defaults[uri]),
      catch: (error) =>
        error instanceof handlers.HandlersProblem
          ? refuse(error.detail, error.operation)
          : refuse({ problem: "its implementation can't be read", mend: "return one handler for each operation" })
    })
    const endpoint = checks.endpointOf(extension)
    const methods = new Map<string, Contract.Method>()
    const routes: Array<Served> = []
    for (const served of chosen) {
      const { name, operation } = served
      const path = operation.path ?? endpoint
      const found = methods.has(name)
        ? { problem: "two of its operations have this name", mend: "give one of them another name" }
        : checks.pathProblem(path) ?? (standard ? undefined : checks.operationProblem(operation))
      if (found !== undefined) return yield* refuse(found, name)
      const contract = uri === configUri && name === "set" ? options.configContract : undefined
      methods.set(name, methodOf(served, path, endpoint, contract))
      routes.push({
        uri,
        name,
        method: operation.method,
        path,
        takesNothing: Object.keys(operation.variants).length === 0 && takesNothing(operation.request),
        call: answer(served, `extension '${uri}' ${name}`)
      })
    }
    return {
      entry: entryOf(extension, chosen.length === 0 ? extension.endpoint : endpoint, methods, more),
      routes,
      overrides: chosen.flatMap(({ name, overridden }) => overridden ? [{ uri, operation: name }] : [])
    }
  })

/**
 * Resolves the extensions of an agent, or says what is wrong with one of them: its namespace, its description, its configuration, its
 * handlers, its schemas or its routes (B-REG-8 to B-REG-23). Every operation that is overridden is logged as a warning.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Registry, RegistryError> =>
  Effect.gen(function*() {
    const refuse = (uri: string) => ({ mend, problem }: checks.Problem, operation?: string | undefined) =>
      new RegistryError({ agent: options.agent, subject: subjectOf(uri, operation), problem, mend })

    const twice = listedTwice(options.extensions)
    if (twice !== undefined) {
      return yield* refuse(twice.uri)({
        problem: "it is listed twice",
        mend: twice.uri === configUri
          ? "leave it out: it comes with the agent's config"
          : "define one extension with all its operations, and list it once"
      })
    }
    const resolved = yield* Effect.forEach(
      options.extensions,
      (extension) => resolve(extension, options, refuse(extension.uri))
    )
    const routes = resolved.flatMap((each) => each.routes)
    const collision = collisionOf(routes, options.reserved)
    if (collision !== undefined) {
      const { owner, served } = collision
      return yield* refuse(served.uri)({
        problem: `its route ${served.method} ${served.path} belongs to ${owner}`,
        mend: "give it another path"
      }, served.name)
    }
    const overrides = resolved.flatMap((each) => each.overrides)
    const warnings = overrides.map(({ operation, uri }) => `the library's ${uri} ${operation} is overridden`)
    yield* Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true })
    return {
      entries: resolved.map(({ entry }) => entry),
      routes,
      conformance: { standard_operation_overrides: overrides },
      warnings
    }
  })
