/**
 * Agent cards with protoLabs' defaults, for both A2A wires.
 *
 * @since 0.1.0
 */
export * as AgentCard from "./AgentCard.ts"

/**
 * Artifacts as protoLabs' agents name them: the answer's text, and data beside it.
 *
 * @since 0.1.0
 */
export * as Artifact from "./Artifact.ts"

/**
 * How protoLabs' agents are called by whom they know: the schemes that a card declares, the check of a request's headers, and the
 * client that stamps them.
 *
 * @since 0.1.0
 */
export * as Auth from "./Auth.ts"

/**
 * What all extensions have in common: what carries them, and the lenient way to read and write them.
 *
 * @since 0.1.0
 */
export * as Carrying from "./Carrying.ts"

/**
 * How sure an agent is of its answer (`confidence-v1`).
 *
 * @since 0.1.0
 */
export * as Confidence from "./Confidence.ts"

/**
 * What a turn cost: tokens, time and money (`cost-v1`). Costs add up, are priced by tables of the caller's, and describe spans.
 *
 * @since 0.1.0
 */
export * as Cost from "./Cost.ts"

/**
 * The URIs that name protoLabs' extensions: on a card they declare them, in a `metadata` map they are the payload's key.
 *
 * @since 0.1.0
 */
export * as ExtensionUri from "./ExtensionUri.ts"

/**
 * Metadata maps of A2A's messages, artifacts, tasks and requests: putting extensions' fragments together, the request keys that
 * protoLabs' agents understand, and the trace that a request belongs to.
 *
 * @since 0.1.0
 */
export * as Metadata from "./Metadata.ts"

/**
 * A2A's parts in all three envelopes that peers use: flat (A2A 1.0 on the wire), `content.$case` (the SDKs' memory, and the older
 * package's own shape) and `kind` (A2A 0.3). Readers take every one; writers write the flat one.
 *
 * @since 0.1.0
 */
export * as Part from "./Part.ts"

/**
 * What reading an extension answers: that it isn't there, that it is there and wrong, or its value. Plain values, so that reading
 * allocates nothing for what doesn't match; `toEffect` and `toOption` lead into the rest of Effect.
 *
 * @since 0.1.0
 */
export * as Read from "./Read.ts"

/**
 * Skills with a structured result: an Effect Schema is at once the tool that a model is forced to call (`submit_<skill>`), the check
 * of its arguments, and the type of the result that peers read. Raw JSON Schemas are checked as well.
 *
 * @since 0.1.0
 */
export * as Skill from "./Skill.ts"

/**
 * The states of A2A's tasks in both wires' spellings, by what protoLabs' hub makes of them.
 *
 * @since 0.1.0
 */
export * as TaskState from "./TaskState.ts"

/**
 * Tools that an agent calls while it works (`tool-call-v1`), and the phases of each call as a state machine.
 *
 * @since 0.1.0
 */
export * as ToolCall from "./ToolCall.ts"

/**
 * A world state that follows its deltas: one place to read it, to change it, and to hear of every change.
 *
 * @since 0.1.0
 */
export * as WorldState from "./WorldState.ts"

/**
 * What a turn changed in the world state that agents share (`worldstate-delta-v1`), and how such changes are applied.
 *
 * @since 0.1.0
 */
export * as WorldstateDelta from "./WorldstateDelta.ts"
