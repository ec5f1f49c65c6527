import { Cause, Exit, Layer, Logger, LogLevel, Tracer } from "effect"
import { inspect } from "node:util"

/** Keeps all that is said: log lines, and spans with their attributes and how they ended. */
export const listening = () => {
  const said: Array<string> = []
  const logger = Logger.make(({ annotations, cause, message }) => {
    said.push(inspect([message, Cause.pretty(cause), [...annotations]], { depth: 10 }))
  })
  const spans: Array<Tracer.Span> = []
  const native = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: String(spans.length),
        traceId: "trace",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links: [...links],
        sampled: true,
        kind,
        attribute: (key, value) => void attributes.set(key, value),
        event: (...event) => void said.push(inspect(event)),
        addLinks: () => {},
        end: (_, exit) =>
          void said.push(inspect([name, [...attributes], Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "ok"]))
      }
      spans.push(span)
      return span
    },
    context: (run) => run()
  })
  const layer = Layer.mergeAll(
    Logger.replace(Logger.defaultLogger, logger),
    Logger.minimumLogLevel(LogLevel.All),
    Layer.setTracer(native)
  )
  return { said, spans, layer }
}
