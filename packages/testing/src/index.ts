/**
 * An environment under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
export * as EnvironmentTest from "./EnvironmentTest.ts"
