/**
 * The vocabulary of A2A that agents, clients and conventions share, whatever the version of the wire: a superset of 0.3 and 1.0.
 * `A2aV03` and `A2aV1` read and write it.
 *
 * @since 0.1.0
 */
export * as A2a from "./A2a.ts"

/**
 * The A2A wire 0.3, both directions: params and results as a2a-python 0.3 and a2a-js 0.3 read and write them.
 *
 * Absent and `null` are the same. The base64 text of a file is kept as it came. JSON that is no object travels in a data part as
 * `{ value }` with `data_part_compat` in its metadata, as both SDKs do it; media type and file name of text and data are left behind,
 * since 0.3 has no place for them.
 *
 * @since 0.1.0
 */
export * as A2aV03 from "./A2aV03.ts"

/**
 * The A2A wire 1.0, both directions: params and results as ProtoJSON.
 *
 * What ProtoJSON allows is read: names in snake_case, enums as numbers, integers as text, `null` for absent, defaults left out. The
 * base64 text of a file is kept as it came, in either alphabet; a data part may be any JSON value, `null` too.
 *
 * @since 0.1.0
 */
export * as A2aV1 from "./A2aV1.ts"

/**
 * What both versions of the A2A wire have in common: what requests ask for, whatever their spelling, and how reading fails.
 * `A2aV03` and `A2aV1` are the two wires; either module is a `Wire`.
 *
 * @since 0.1.0
 */
export * as A2aWire from "./A2aWire.ts"

/**
 * The card of an A2A agent: who it is, what it can do, and where it speaks which version of the wire.
 *
 * @since 0.1.0
 */
export * as AgentCard from "./AgentCard.ts"

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
 * What the card of an agent says of an operation's request and answer: the names of their fields, and nothing of their types
 * (B-CARD-7 to B-CARD-10). Written by those who serve an operation, read by those who call it.
 *
 * @since 0.1.0
 */
export * as Contract from "./Contract.ts"

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
 * Triggers as authors of scenarios write them: when something is said to an agent, and what (area TRIG of the contract).
 *
 * @since 0.1.0
 */
export * as Trigger from "./Trigger.ts"

/**
 * Effect schemas as the JSON Schemas that each place on the wire wants, and decoding errors as sentences without secrets.
 *
 * Every schema here is the encoded side's, in the common subset of draft-07 and 2020-12: an object at the root, no `$schema`,
 * everything inlined but recursion.
 *
 * @since 0.1.0
 */
export * as WireSchema from "./WireSchema.ts"

export {
  /**
   * The configuration of an agent: what the platform sets, and reads back.
   *
   * @since 0.1.0
   */
  AgentConfigV1
} from "./extensions/AgentConfigV1.ts"

export {
  /**
   * What an agent last said of itself to a model.
   *
   * @since 0.1.0
   */
  AttributionProbeV1
} from "./extensions/AttributionProbeV1.ts"

export {
  /**
   * How an agent is installed on a machine that is there already (area INST of the contract).
   *
   * @since 0.1.0
   */
  InstallV1
} from "./extensions/InstallV1.ts"

export {
  /**
   * The MCP servers that the platform gives an agent.
   *
   * @since 0.1.0
   */
  McpConfigV1
} from "./extensions/McpConfigV1.ts"

export {
  /**
   * The other agents that an agent may delegate to.
   *
   * @since 0.1.0
   */
  PeerAgentsV1
} from "./extensions/PeerAgentsV1.ts"

export {
  /**
   * The skills that the platform installs on an agent.
   *
   * @since 0.1.0
   */
  SkillConfigV1
} from "./extensions/SkillConfigV1.ts"

export {
  /**
   * The state of an agent in its own form: saved whole, restored, and recorded change by change (area SNAP of the contract).
   *
   * @since 0.1.0
   */
  SnapshotV1
} from "./extensions/SnapshotV1.ts"

export {
  /**
   * Objects that wait at an agent for it, or for the platform to fetch them (area STG of the contract).
   *
   * @since 0.1.0
   */
  StagingV1
} from "./extensions/StagingV1.ts"

export {
  /**
   * What tasks did, in the words of the runtimes that ran them: whole when a task has ended, page by page while it runs (area TRAJ of the
   * contract).
   *
   * @since 0.1.0
   */
  TrajectoryV1
} from "./extensions/TrajectoryV1.ts"

export {
  /**
   * What an agent is to say, and when: triggers that a platform registers on it and asks to decide, turn by turn (area TRIG of the contract).
   *
   * @since 0.1.0
   */
  TriggersV1
} from "./extensions/TriggersV1.ts"
