/**
 * The URIs that name protoLabs' extensions: on a card they declare them, in a `metadata` map they are the payload's key.
 *
 * @since 0.1.0
 */

/**
 * What every URI of the family begins with.
 *
 * @since 0.1.0
 * @category constructors
 */
export const base = "https://proto-labs.ai/a2a/ext/"

/**
 * Names `Cost`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const cost = "https://proto-labs.ai/a2a/ext/cost-v1"

/**
 * Names `Confidence`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const confidence = "https://proto-labs.ai/a2a/ext/confidence-v1"

/**
 * Names `WorldstateDelta`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const worldstateDelta = "https://proto-labs.ai/a2a/ext/worldstate-delta-v1"

/**
 * Names `ToolCall`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolCall = "https://proto-labs.ai/a2a/ext/tool-call-v1"

/**
 * The four extensions with a payload, in the order in which a card lists them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const all: ReadonlyArray<string> = [cost, confidence, worldstateDelta, toolCall]

/**
 * What a card says of each extension, by URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const descriptions: { readonly [uri: string]: string } = {
  [cost]: "Tokens used, time taken and money spent by the turn.",
  [confidence]: "How sure the agent is of its answer, from 0 to 1.",
  [worldstateDelta]: "What the turn has changed in the shared world state.",
  [toolCall]: "Tools that the agent calls: started, completed or failed."
}

/**
 * URIs of neighbours that only ever stand on cards, with parameters by skill. They are taken: give an extension of your own another.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reserved: {
  readonly blast: string
  readonly hitlMode: string
  readonly effectDomain: string
  readonly trace: string
} = {
  blast: "https://proto-labs.ai/a2a/ext/blast-v1",
  hitlMode: "https://proto-labs.ai/a2a/ext/hitl-mode-v1",
  effectDomain: "https://proto-labs.ai/a2a/ext/effect-domain-v1",
  trace: "https://proto-labs.ai/a2a/ext/trace-v1"
}
