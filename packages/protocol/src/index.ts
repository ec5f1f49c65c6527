/**
 * @since 0.1.0
 */
export * as AgentEnvError from "./AgentEnvError.ts"

/**
 * Who makes a call: the role and the session that a gateway or a header names (area CTX of the contract).
 *
 * @since 0.1.0
 */
export * as Caller from "./Caller.ts"

/**
 * Checks that answer `never` when all is well and sentences when it is not. An argument typed `Verdict<Check<X>> & X` fails with
 * those sentences in the compiler's first line, however large `X` is: the verdict stands first, since the compiler cuts long types
 * at their end. For authors of definitions (`Environment`, `Agent`, `Extension`) rather than of their implementations.
 *
 * @since 0.1.0
 */
export * as Check from "./Check.ts"

/**
 * State that an environment uploads instead of answering it inline: an extension of `data/get` (area DOBJ of the contract).
 *
 * @since 0.1.0
 */
export * as DataObjects from "./DataObjects.ts"

/**
 * The three methods by which a rollout seeds, resets and reads an environment: `data/reset`, `data/add`, `data/get`.
 *
 * @since 0.1.0
 */
export * as DataPlane from "./DataPlane.ts"

/**
 * The card of an environment: what it is called, where it listens, and which operations, tools and extensions it serves.
 *
 * @since 0.1.0
 */
export * as EnvironmentCard from "./EnvironmentCard.ts"

/**
 * @since 0.1.0
 */
export * as Extension from "./Extension.ts"

/**
 * Grants: short-lived permissions to read or write an object in a store, and the objects that they are given for
 * (contract section 14). They are closed, and what they must keep secret is `Redacted` from the moment it is decoded.
 *
 * @since 0.1.0
 */
export * as Grant from "./Grant.ts"

/**
 * The implementation of operations: the shape that gives handlers their argument types, the sentences that say what is wrong with
 * one, and the services it needs.
 *
 * @since 0.1.0
 */
export * as Implementation from "./Implementation.ts"

/**
 * What an environment says it takes on `data/add` and answers on `data/get`, and whether some data would fit (areas INTK and PRE
 * of the contract).
 *
 * @since 0.1.0
 */
export * as Intake from "./Intake.ts"

/**
 * JSON-RPC 2.0 messages, as the data plane, MCP and A2A speak them.
 *
 * @since 0.1.0
 */
export * as JsonRpc from "./JsonRpc.ts"

/**
 * The interface manifest: how a command line can present an environment's tools as entities with commands (area MAN of the
 * contract).
 *
 * @since 0.1.0
 */
export * as Manifest from "./Manifest.ts"

/**
 * The messages of the Model Context Protocol, in both of its eras: with sessions (2025-11-25 and before) and without
 * (2026-07-28). Objects of peers are open: fields that we do not know are kept, so that they can travel on.
 *
 * @since 0.1.0
 */
export * as Mcp from "./Mcp.ts"

/**
 * @since 0.1.0
 */
export * as Operation from "./Operation.ts"

/**
 * The parts that environments and agents exchange: text, files and JSON objects. One schema serves both protocols.
 *
 * @since 0.1.0
 */
export * as Part from "./Part.ts"

/**
 * Effect schemas as the JSON Schemas that each place on the wire wants, and decoding errors as sentences without secrets.
 *
 * Every schema here is the encoded side's, in the common subset of draft-07 and 2020-12: an object at the root, no `$schema`,
 * everything inlined but recursion.
 *
 * @since 0.1.0
 */
export * as WireSchema from "./WireSchema.ts"
