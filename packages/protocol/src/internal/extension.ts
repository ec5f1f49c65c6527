import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Any, Handlers, HandlersService, Options, TypeId as ExtensionTypeId } from "../Extension.ts"

const TypeId: ExtensionTypeId = Symbol.for("@effect-agentenv/protocol/Extension") as ExtensionTypeId

/** @internal */
export type Parts = Omit<Any, ExtensionTypeId>

/** The library's own definitions, known by identity, since whatever can be read off one can be copied. */
const standards = new WeakSet<object>()

/** @internal */
export const isStandard = (extension: object): boolean => standards.has(extension)

/** @internal */
export const fromParts = (parts: Parts, standard: boolean): Any => {
  const handlers = Context.GenericTag<Handlers<string>, HandlersService>(
    `@effect-agentenv/protocol/Extension/Handlers/${parts.uri}`
  )
  const self = {
    ...parts,
    [TypeId]: TypeId as ExtensionTypeId,
    handlers,
    configure: (configuration: unknown) => fromParts({ ...parts, configuration }, standard),
    toLayer: (build: Effect.Effect<object, unknown, unknown>) =>
      Layer.scoped(
        handlers,
        Effect.zipWith(build, Effect.context<never>(), (implementation, context) => ({
          uri: parts.uri,
          implementation,
          context
        }))
      ),
    of: (implementation: unknown) => implementation
  }
  if (standard) standards.add(self)
  return self
}

/**
 * The same extension with something changed, which stays the library's own if it was.
 *
 * @internal
 */
export const derive = (self: Any, change: Partial<Parts>): Any =>
  fromParts(
    {
      uri: self.uri,
      form: self.form,
      description: self.description,
      endpoint: self.endpoint,
      operations: self.operations,
      features: self.features,
      params: self.params,
      required: self.required,
      origin: self.origin,
      overridden: self.overridden,
      configuration: self.configuration,
      configurable: self.configurable,
      ...change
    },
    isStandard(self)
  )

/** @internal */
export const partsOf = (uri: string, options: Options<any, any, any>): Parts => ({
  uri,
  form: "many",
  description: options.description,
  endpoint: options.endpoint,
  operations: options.operations ?? {},
  features: options.features ?? {},
  params: options.params,
  required: options.required,
  origin: "custom",
  overridden: false,
  configuration: undefined,
  configurable: options.configuration === undefined
    ? undefined
    : { schema: options.configuration, cardParams: options.cardParams }
})
