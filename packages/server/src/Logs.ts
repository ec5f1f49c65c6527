/**
 * How a server writes its log.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"

/**
 * One JSON object a line, or for people.
 *
 * @since 0.1.0
 * @category models
 */
export type Format = "json" | "pretty"

// `NodeRuntime.runMain` has put the pretty logger in the default one's place already.
const layers: Readonly<Record<Format, Layer.Layer<never>>> = {
  json: Layer.mergeAll(Logger.remove(Logger.prettyLoggerDefault), Logger.json),
  pretty: Layer.mergeAll(Logger.remove(Logger.prettyLoggerDefault), Logger.pretty)
}

/**
 * The logger of a format; without one the variable `LOG_FORMAT` counts, and without that the loggers stay as they are.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (format: Format | undefined): Layer.Layer<never, ConfigError.ConfigError> =>
  Layer.unwrapEffect(Effect.map(
    format === undefined
      ? Config.option(Config.literal("json", "pretty")("LOG_FORMAT"))
      : Effect.succeed(Option.some(format)),
    Option.match({ onNone: () => Layer.empty, onSome: (format) => layers[format] })
  ))
