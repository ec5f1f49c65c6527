/**
 * An environment under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
export * as EnvironmentTest from "./EnvironmentTest.ts"

/**
 * An object store on real TLS that issues grants and injects faults.
 *
 * @since 0.1.0
 */
export * as ObjectStore from "./ObjectStore.ts"
