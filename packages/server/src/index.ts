/**
 * What came of reading a request's body.
 *
 * @since 0.1.0
 */
export * as Body from "./Body.ts"

/**
 * A request's body as it arrives, for those who do not want it in memory.
 *
 * @since 0.1.0
 */
export * as BodyReader from "./BodyReader.ts"

/**
 * An answer's body as it is made, for those who do not want it in memory.
 *
 * @since 0.1.0
 */
export * as BodyWriter from "./BodyWriter.ts"

/**
 * The calls of a layer: one fiber each, none of them lost, all of them ended with the layer.
 *
 * @since 0.1.0
 */
export * as Calls from "./Calls.ts"

/**
 * What a peer is told of an error that nobody expected: an id, and nothing else.
 *
 * @since 0.1.0
 */
export * as Correlation from "./Correlation.ts"

/**
 * A `text/event-stream` answer in the making.
 *
 * @since 0.1.0
 */
export * as EventStream from "./EventStream.ts"

/**
 * One HTTP request and the answer to it, as everything above the floor sees them.
 *
 * @since 0.1.0
 */
export * as Exchange from "./Exchange.ts"

/**
 * The table of hot paths that a server consults before the platform's router.
 *
 * @since 0.1.0
 */
export * as Front from "./Front.ts"

/**
 * Routes inside a server that somebody else runs: a fetch handler, or node's and Express'.
 *
 * @since 0.1.0
 */
export * as Handler from "./Handler.ts"

/**
 * Whether the server is up.
 *
 * @since 0.1.0
 */
export * as Health from "./Health.ts"

/**
 * Which hosts and origins a server answers to: the guard against DNS rebinding and foreign web pages.
 *
 * @since 0.1.0
 */
export * as HostCheck from "./HostCheck.ts"

/**
 * Where identifiers come from.
 *
 * @since 0.1.0
 */
export * as Ids from "./Ids.ts"

/**
 * Routes without a port: a fetch handler and an HTTP client that call their listeners directly.
 *
 * @since 0.1.0
 */
export * as InProcess from "./InProcess.ts"

/**
 * Reading JSON off the wire: strict about what would break a peer further on, nearly free for a small good body.
 *
 * @since 0.1.0
 */
export * as Json from "./Json.ts"

/**
 * How a server writes its log.
 *
 * @since 0.1.0
 */
export * as Logs from "./Logs.ts"

/**
 * Exchanges over node's own server.
 *
 * @since 0.1.0
 */
export * as NodeExchange from "./NodeExchange.ts"

/**
 * Routes as data: a path and a listener for each verb.
 *
 * @since 0.1.0
 */
export * as Route from "./Route.ts"

/**
 * Node's HTTP server, with the front before the platform's router and an end that comes in time.
 *
 * @since 0.1.0
 */
export * as Server from "./Server.ts"

/**
 * Exchanges over fetch's `Request` and `Response`.
 *
 * @since 0.1.0
 */
export * as WebExchange from "./WebExchange.ts"
