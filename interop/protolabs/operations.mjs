// The operations of the recorded cases, by ours. A profile names the original whose option ours is asked to follow.
import {
  AgentCard,
  Artifact,
  Auth,
  Confidence,
  Cost,
  ExtensionUri,
  Metadata,
  Part,
  Read,
  Skill,
  TaskState,
  ToolCall,
  WorldstateDelta
} from "@effect-agentenv/protolabs"
import { Headers } from "@effect/platform"
import { Option, Redacted } from "effect"

const ts = "ts-0.1.0"
const python021 = "py-0.2.1"

/** What is refused; the recorded answer is `{ "$error": true }`. */
export class Refused extends Error {}

const value = Option.getOrUndefined

/** The originals throw on a part that is no object; ours answers that the root is malformed. */
const checked = (part) => {
  const read = Part.readData(part)
  if (Read.isMalformed(read) && read.path.length === 0) throw new Refused(read.message)
  return part
}

const constants = {
  MIME_KEY: Part.mimeKey,
  DATA_MEDIA_TYPE: Part.dataMediaType,
  COST_MIME: Cost.mime,
  CONFIDENCE_MIME: Confidence.mime,
  WORLDSTATE_DELTA_MIME: WorldstateDelta.mime,
  TOOL_CALL_MIME: ToolCall.mime,
  COST_EXT_URI: Cost.uri,
  CONFIDENCE_EXT_URI: Confidence.uri,
  WORLDSTATE_DELTA_EXT_URI: WorldstateDelta.uri,
  TOOL_CALL_EXT_URI: ToolCall.uri,
  ALL_EXTENSION_URIS: ExtensionUri.all,
  "EXTENSION_DESCRIPTIONS.keys": Object.keys(ExtensionUri.descriptions),
  PROVIDER_ORGANIZATION: AgentCard.providerOrganization,
  PROVIDER_URL: AgentCard.providerUrl,
  PROTOCOL_VERSION: AgentCard.protocolVersion,
  API_KEY_HEADER: Auth.apiKeyHeader,
  API_KEY_SCHEME_NAME: Auth.apiKeySchemeName,
  BEARER_SCHEME_NAME: Auth.bearerSchemeName,
  SUBMIT_TOOL_PREFIX: Skill.toolPrefix
}

const extension = (name, module, fields = (input) => input) => ({
  // the TypeScript layer takes payloads whole
  [`ext.${name}.emit`]: (input, profile) =>
    Part.toCase(module.lenient.toPart(profile === ts ? input : module.lenient.make(fields(input)))),
  [`ext.${name}.metadata`]: (input) => module.lenient.toMetadata(module.lenient.make(fields(input))),
  [`ext.${name}.parsePart`]: ({ part }) => value(module.lenient.fromPart(checked(part))),
  [`ext.${name}.parseMetadata`]: ({ metadata }) => value(module.lenient.fromMetadata(metadata)),
  [`ext.${name}.parseFirst`]: ({ parts }) => value(module.lenient.find(parts))
})

const problemKinds = { SchemaNotObject: "schema-not-object", ArgumentsNotObject: "args-not-object" }

const problemLabels = {
  SchemaNotObject: () => "<schema>",
  InvalidSchema: () => "<schema>",
  ArgumentsNotObject: () => "<root>",
  Violation: ({ path }) => path.length === 0 ? "<root>" : path.join("/")
}

const schemesOfTs = (scheme) =>
  scheme === "apiKey"
    ? { apiKey: Auth.apiKeyScheme({ description: "a key" }) }
    : scheme === "bearer"
    ? { bearer: Auth.bearerScheme({ description: "a token" }) }
    : {}

const credentials = (scheme, secret) =>
  scheme === "apiKey"
    ? Auth.apiKey(Redacted.make(secret))
    : scheme === "bearer"
    ? Auth.bearer(Redacted.make(secret))
    : undefined

export const operations = {
  const: ({ id }) => constants[id],
  "part.text": ({ text }, profile) => Part.toCase(Part.text(text, profile === ts ? { mediaType: "text/plain" } : {})),
  "part.data": ({ mimeType, payload }, profile) =>
    Part.toCase(Part.data(payload, profile === ts && mimeType === "" ? undefined : mimeType)),
  "part.readText": ({ part }) => value(Part.lenient.readText(checked(part))),
  "part.readData": ({ part }) => {
    const { mimeType = null, payload = null } = value(Part.lenient.readData(checked(part))) ?? {}
    return { mimeType, payload }
  },
  "part.readPayload": ({ part }) => value(Part.lenient.readData(checked(part)))?.payload,
  "part.mime": ({ part }) => Part.lenient.mime(checked(part)),
  "wire.flatten": ({ part }) => Part.toFlat(part),
  "wire.inflate": ({ json }) => Part.toCase(json),
  ...extension("cost", Cost),
  ...extension("confidence", Confidence),
  ...extension("worldstateDelta", WorldstateDelta, ({ deltas }) => deltas),
  ...extension("toolCall", ToolCall),
  "ext.mergeMetadata": ({ fragments }) => Metadata.merge(...fragments),
  "skill.toolName": ({ skillId }) => Skill.toolName(skillId),
  "skill.tool": ({ description, schema, skillId }) =>
    Skill.rawTool(skillId, schema, { description: description ?? undefined }),
  "skill.mime": ({ name }) => Skill.resultMime(name),
  "skill.validatePaths": ({ args, schema }) =>
    Skill.problems(args, schema).map((problem) => problemLabels[problem._tag](problem)),
  "skill.validateRaw": ({ args, schema }) => {
    const problems = Skill.problems(args, schema)
    const [{ _tag, got }] = problems
    return { count: problems.length, kind: problemKinds[_tag], ...(got === undefined ? {} : { got }) }
  },
  "skill.emit": ({ mime, value }) => Part.toCase(Skill.lenient.toPart(value, mime)),
  "skill.parse": ({ mime, part }) => {
    const read = Part.readData(checked(part))
    if (mime === null && Read.isMalformed(read)) throw new Refused(read.message)
    return value(Skill.lenient.fromPart(part, mime ?? undefined))
  },
  "skill.read": ({ mime, parts }) => value(Skill.lenient.find(parts, mime)),
  "skill.matchToolName": ({ name }) => value(Skill.idOfTool(name)),
  "auth.apiKeyScheme": ({ header }) => Auth.apiKeyScheme({ header }),
  "auth.bearerScheme": () => Auth.bearerScheme(),
  "auth.schemes": ({ bearer }) => Auth.securitySchemes({ bearer }),
  "auth.requirements": ({ bearer }) => Auth.securityRequirements({ bearer }),
  "auth.schemeFor": ({ scheme }) => schemesOfTs(scheme),
  "auth.stampHeader": ({ headers, scheme, value }) => {
    const shown = credentials(scheme, value)
    return shown === undefined ? headers : { ...Auth.stampHeaders(Headers.fromInput(headers), shown) }
  },
  "card.provider": () => AgentCard.provider,
  "card.interface": ({ tenant, url }) => AgentCard.jsonRpcInterface(url, { tenant }),
  "card.buildPy": ({ extensionUris = ExtensionUri.all, ...options }, profile) =>
    AgentCard.make({
      ...options,
      // 0.2.1 declares extensions by their URIs alone
      extensions: profile === python021 ? extensionUris.map((uri) => ({ uri })) : extensionUris
    }),
  "card.buildTs": ({ authScheme, extraExtensions = [], ...options }) =>
    AgentCard.make({
      ...options,
      extensions: [...ExtensionUri.all, ...extraExtensions],
      defaultOutputModes: ["text/plain"],
      securitySchemes: schemesOfTs(authScheme),
      securityRequirements: []
    }),
  "artifact.text": ({ artifactId, name, text }) => Artifact.text(text, { artifactId, name }),
  "artifact.data": ({ artifactId, name, parts }) => Artifact.data(parts, { artifactId, name }),
  "parts.toText": ({ parts }) => Part.toText(parts),
  "state.classify": ({ state }) => {
    const bus = TaskState.make(state)
    return { bus, terminal: TaskState.isTerminal(bus), error: TaskState.isError(bus) }
  },
  "delta.apply": ({ deltas, domains }) => {
    const { applied, world } = WorldstateDelta.apply(domains, deltas)
    return { domains: world, changed: applied.length > 0 }
  }
}
