/**
 * An agent under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
export * as AgentTest from "./AgentTest.ts"

/**
 * An environment under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
export * as EnvironmentTest from "./EnvironmentTest.ts"

/**
 * An object store for tests: real TLS, signed grants of all six shapes, S3's strictness, and faults by name.
 *
 * @since 0.1.0
 */
export * as ObjectStore from "./ObjectStore.ts"

/**
 * TLS before a server that has none, since grants are for `https` URLs alone.
 *
 * @since 0.1.0
 */
export * as TlsFront from "./TlsFront.ts"
