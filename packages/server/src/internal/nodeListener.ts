import * as Cause from "effect/Cause"
import type * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Body from "../Body.ts"
import * as Correlation from "../Correlation.ts"
import * as Exchange from "../Exchange.ts"
import * as Front from "../Front.ts"
import * as HostCheck from "../HostCheck.ts"
import * as NodeExchange from "../NodeExchange.ts"
import * as Route from "../Route.ts"

/** What a framework may have put on a request: its body, read and parsed. */
interface Parsed {
  readonly body?: unknown
}

const toBytes = (body: unknown): Buffer => {
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body) ?? "")
}

/** An exchange behind middleware that may have read the body (`express.json()`). */
class FrameworkExchange extends NodeExchange.NodeExchange {
  private readonly request: IncomingMessage & Parsed

  constructor(request: IncomingMessage & Parsed, response: ServerResponse, options: NodeExchange.Options) {
    super(request, response, options)
    this.request = request
  }

  override body(limit: number, use: (body: Body.Body) => void): void {
    const { request } = this
    if (!request.readableEnded) return super.body(limit, use)
    if (request.body === undefined) {
      throw new Error("a middleware read the request's body and left nothing in `request.body`")
    }
    const bytes = toBytes(request.body)
    use(bytes.length === 0 ? Body.empty : bytes.length > limit ? Body.tooLarge(limit) : new Body.Text(bytes))
  }
}

/** What answers a request of node's, or passes it on. */
export type NodeListener = (
  request: IncomingMessage & Parsed,
  response: ServerResponse,
  next?: (error?: unknown) => void
) => void

/** A listener with these routes; other paths go to `next`, and are a 404 without one. */
export const make = (
  routes: ReadonlyArray<Route.Route>,
  options: HostCheck.Options & { readonly maxBuffered?: number | undefined },
  runtime: Runtime.Runtime<never>
): NodeListener => {
  const front = Front.make()
  for (const route of routes) front.add(route.path, Route.toListener(route))
  const check = HostCheck.make(options)
  const onDefect = (defect: unknown): string => Correlation.report(Cause.die(defect), runtime)
  const exchangeOptions: NodeExchange.Options = { maxBuffered: options.maxBuffered, onDefect }
  return (request, response, next) => {
    const exchange = new FrameworkExchange(request, response, exchangeOptions)
    const listener = front.find(exchange.path) ?? front.find(exchange.path.replace(/\/$/, ""))
    if (listener === undefined) {
      return next === undefined ? Exchange.json(exchange, 404, { detail: "Not Found" }) : next()
    }
    const refusal = check?.(exchange.header("host"), exchange.header("origin"))
    if (refusal !== undefined) return Exchange.json(exchange, refusal.status, { detail: refusal.detail })
    try {
      listener(exchange)
    } catch (defect) {
      exchange.reply(500, ["content-type", "text/plain; charset=utf-8"], onDefect(defect))
    }
  }
}
