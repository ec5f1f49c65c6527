import type * as Extension from "@effect-agentenv/protocol/Extension"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import { ServingPort } from "@effect-agentenv/transfers/Loopback"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Problem } from "./extensionChecks.ts"
import type { Handler } from "./extensionRequest.ts"

/** An operation that is served, and by whom. */
export interface Served {
  /** Its key in the definition, a feature's behind the feature's. */
  readonly key: string
  readonly name: string
  readonly operation: Operation.Any
  /** By variant, or under `""`. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** The author answers what the library would. */
  readonly overridden: boolean
}

/** What is wrong with the operation of this name, or with the extension. */
export class HandlersProblem extends Error {
  readonly operation: string | undefined
  readonly detail: Problem
  constructor(operation: string | undefined, detail: Problem) {
    super(detail.problem)
    this.operation = operation
    this.detail = detail
  }
}

const refuse = (operation: string | undefined, problem: string, mend: string): never => {
  throw new HandlersProblem(operation, { problem, mend })
}

type Handlers = ReadonlyMap<string, Handler>

/** What a call has of its own, whatever there was of it when the handler's layer was built. */
const ofCalls: ReadonlySet<string> = new Set([Scope.Scope.key, Tracer.ParentSpan.key, ServingPort.key])

/** Gives a handler what was there when its layer was built, then what the server has besides. */
const within = (handler: Handler, context: Context.Context<never> | undefined): Handler => {
  if (context === undefined) return handler
  const own = Array.from(context.unsafeMap).filter(([key]) => !ofCalls.has(key))
  return (request) =>
    Effect.mapInputContext(
      Effect.suspend(() => handler(request)),
      (call: Context.Context<unknown>) => Context.unsafeMake<unknown>(new Map([...call.unsafeMap, ...own]))
    )
}

const handlersOf = (
  operation: Operation.Any,
  name: string,
  node: unknown,
  context?: Context.Context<never> | undefined
): Handlers => {
  const variants = Object.keys(operation.variants)
  if (node === undefined) return new Map()
  if (variants.length === 0) {
    return typeof node === "function"
      ? new Map([["", within(node as Handler, context)]])
      : refuse(name, "its handler is not a function", "make it a function that returns an Effect")
  }
  if (typeof node !== "object" || node === null) {
    return refuse(name, "it has variants and one handler", `give a handler for each of ${variants.join(", ")}`)
  }
  return new Map(
    Object.entries(node).map(([variant, handler]) => {
      if (!variants.includes(variant)) {
        refuse(name, `it has no variant '${variant}'`, `its variants are ${variants.join(", ")}`)
      }
      if (typeof handler !== "function") {
        refuse(name, `the handler of '${variant}' is not a function`, "make it a function that returns an Effect")
      }
      return [variant, within(handler as Handler, context)] as const
    })
  )
}

const core = (operation: Operation.Any): ReadonlyArray<string> =>
  Object.entries(operation.variants).flatMap(([variant, { optional }]) => optional ? [] : [variant])

const complete = (operation: Operation.Any, handlers: Handlers): boolean =>
  Object.keys(operation.variants).length === 0
    ? handlers.has("")
    : handlers.size > 0 && core(operation).every((variant) => handlers.has(variant))

/** What is still missing: the operation, or its variants. */
const absent = (handlers: Handlers, wanted: ReadonlyArray<string>): string => {
  const variants = wanted.filter((variant) => !handlers.has(variant))
  return handlers.size === 0 || variants.length === 0
    ? "it has no handler"
    : `it has no handler for ${variants.join(", ")}`
}

const byAuthor = (name: string, operation: Operation.Any, key: string, own: Handlers): Served =>
  complete(operation, own)
    ? { key, name, operation, handlers: own, overridden: false }
    : refuse(name, absent(own, core(operation)), "give it in the extension's toLayer: all operations or none")

/** An operation of the library: its own handlers, what the author adds to them, or the author's instead (B-REG-14, B-TRAJ-14). */
const byLibrary = (name: string, operation: Operation.Any, key: string, own: Handlers, given: Handlers): Served => {
  const overridden = Object.keys(operation.variants).length === 0
    ? own.has("")
    : core(operation).some((variant) => own.has(variant))
  if (!overridden) {
    const taken = Array.from(own.keys()).find((variant) => operation.variants[variant]?.owner === "sdk")
    return taken === undefined
      ? { key, name, operation, handlers: new Map([...given, ...own]), overridden }
      : refuse(name, `its variant '${taken}' is the library's`, "leave it out, or override the whole operation")
  }
  const wanted = Array.from(new Set([...core(operation), ...given.keys()]))
  return complete(operation, own) && wanted.every((variant) => own.has(variant))
    ? { key, name, operation, handlers: own, overridden }
    : refuse(name, absent(own, wanted), "override the whole operation, or none of it")
}

const knownKeys = (extension: Extension.Any, implementation: unknown): void => {
  if (typeof implementation !== "object" || implementation === null) {
    return refuse(undefined, "its implementation is not an object of handlers", "return one handler for each operation")
  }
  const known = [...Object.keys(extension.operations), ...Object.keys(extension.features)]
  const strange = Object.keys(implementation).find((key) => !known.includes(key))
  if (strange !== undefined) {
    return refuse(strange, "its definition has no such operation", `its operations are ${known.join(", ")}`)
  }
}

/** The library's operations of an extension are overridden all together or not at all (B-REG-14). */
const allOrNone = (served: ReadonlyArray<Served>): void => {
  const overridden = served.find((each) => each.overridden)
  const kept = served.filter((each) => each.operation.owner === "sdk" && !each.overridden)
  if (overridden !== undefined && kept.length > 0) {
    refuse(
      overridden.name,
      `it is overridden while ${kept.map(({ name }) => `'${name}'`).join(", ")} stays the library's`,
      "override all of them, or none"
    )
  }
}

/** A feature is given whole or not at all (B-REG-13). */
const features = (
  extension: Extension.Any,
  implementation: unknown,
  context: Context.Context<never> | undefined
): ReadonlyArray<Served> =>
  Object.entries(extension.features).flatMap(([feature, operations]) => {
    const given = Object.entries(operations).map(([key, operation]) => {
      const name = operation.name ?? key
      const handlers = handlersOf(operation, name, Implementation.at(implementation, feature, key), context)
      return { key: `${feature}.${key}`, name, operation, handlers, overridden: false }
    })
    if (given.every(({ handlers }) => handlers.size === 0)) return []
    const missing = given.find(({ handlers, operation }) => !complete(operation, handlers))
    if (missing !== undefined) {
      refuse(
        missing.name,
        `its feature '${feature}' is incomplete: ${absent(missing.handlers, core(missing.operation))}`,
        "give all operations of the feature, or none"
      )
    }
    return given
  })

/**
 * Chooses who answers each operation of an extension, in the order of declaration. An operation of the library that its defaults leave
 * out is not served (B-CFG-10). Throws `HandlersProblem`.
 */
export const choose = (
  extension: Extension.Any,
  standard: boolean,
  service: Extension.HandlersService | undefined,
  defaults: unknown
): ReadonlyArray<Served> => {
  const operations = Object.entries(extension.operations)
  if (service !== undefined) knownKeys(extension, service.implementation)
  const served = operations.flatMap(([key, operation]): ReadonlyArray<Served> => {
    const name = operation.name ?? key
    const own = handlersOf(operation, name, Implementation.at(service?.implementation, key), service?.context)
    if (!standard || operation.owner !== "sdk") return [byAuthor(name, operation, key, own)]
    const given = handlersOf(operation, name, Implementation.at(defaults, key))
    if (given.size === 0) {
      return defaults === undefined ? [{ ...byAuthor(name, operation, key, own), overridden: true }] : []
    }
    return [byLibrary(name, operation, key, own, given)]
  })
  allOrNone(served)
  return [...served, ...features(extension, service?.implementation, service?.context)]
}
