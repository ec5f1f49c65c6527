/**
 * The skills that the platform installs on an agent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import * as Grant from "../Grant.ts"
import { closed } from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/**
 * Reads the name of a skill: up to 128 letters, digits, dots, underscores and dashes, the first a letter or digit, so that it can name
 * a folder (B-SKILL-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const SkillName: Schema.Schema<string> = Schema.String.pipe(
  Schema.filter((name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name), {
    message: () => "must be 1 to 128 letters, digits, dots, underscores or dashes, and begin with a letter or digit"
  })
)

/**
 * A skill that is sent as the text of its `SKILL.md`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InlineRequest = Schema.Struct({
  name: SkillName,
  description: Schema.String,
  skill_md: Schema.String
}).annotations(closed)

/**
 * A skill that is sent as the text of its `SKILL.md`.
 *
 * @since 0.1.0
 * @category models
 */
export interface InlineRequest extends Schema.Schema.Type<typeof InlineRequest> {}

/**
 * A file of a bundle: its path in the skill's folder, and where it is downloaded.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BundleFile = Schema.Struct({ path: Grant.RelativePath, object: Grant.ReadObject }).annotations(closed)

/**
 * A file of a bundle.
 *
 * @since 0.1.0
 * @category models
 */
export interface BundleFile extends Schema.Schema.Type<typeof BundleFile> {}

/**
 * The files of a skill, each with its own grant: a root `SKILL.md`, unique paths, and limits that sum up to no more than `max_total_bytes` (B-SKILL-8).
 *
 * @since 0.1.0
 * @category schemas
 */
export const SkillBundle = Schema.Struct({
  max_total_bytes: Schema.Int.pipe(Schema.positive({ message: () => "must be a positive integer" })),
  files: Schema.Array(BundleFile).pipe(
    Schema.filter((files) => new Set(files.map(({ path }) => path)).size === files.length, {
      message: () => "the paths of the files must be unique"
    }),
    Schema.filter((files) => files.some(({ path }) => path === "SKILL.md"), {
      message: () => "the files must have a SKILL.md at the root"
    })
  )
}).annotations(closed).pipe(
  Schema.filter(
    ({ files, max_total_bytes }) => files.reduce((sum, { object }) => sum + object.max_bytes, 0) <= max_total_bytes,
    { message: () => "the max_bytes of the files must not sum up to more than max_total_bytes" }
  )
)

/**
 * The files of a skill.
 *
 * @since 0.1.0
 * @category models
 */
export interface SkillBundle extends Schema.Schema.Type<typeof SkillBundle> {}

/**
 * A skill that is sent as files to download.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BundleRequest = Schema.Struct({
  name: SkillName,
  description: Schema.String,
  skill_bundle: SkillBundle
}).annotations(closed)

/**
 * A skill that is sent as files to download.
 *
 * @since 0.1.0
 * @category models
 */
export interface BundleRequest extends Schema.Schema.Type<typeof BundleRequest> {}

/**
 * What `add` answers (B-SKILL-1).
 *
 * @since 0.1.0
 * @category schemas
 */
export const AddResponse = Schema.Struct({ name: Schema.String }).annotations(closed)

/**
 * What `add` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface AddResponse extends Schema.Schema.Type<typeof AddResponse> {}

/**
 * What `list` answers: the skills by name, the agent's own included (B-SKILL-5). An override may add to it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListResponse = Schema.Struct(
  {
    skills: Schema.Record({ key: Schema.String, value: Schema.Struct({ description: Schema.String }) })
  },
  { key: Schema.String, value: Schema.Unknown }
)

/**
 * What `list` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type ListResponse = typeof ListResponse.Type

const operations = {
  add: Operation.post({
    variants: { inline: Operation.variant(InlineRequest), bundle: Operation.variant(BundleRequest) },
    response: AddResponse
  }),
  list: Operation.get({ response: ListResponse, owner: "sdk" })
} as const

/**
 * The skills that the platform installs: the author puts them where the agent finds them, the library keeps the list.
 *
 * @since 0.1.0
 * @category constructors
 */
export const SkillConfigV1: Extension<"urn:agentenv:skill-config/v1", typeof operations, {}, never, "standard"> =
  standard.make("urn:agentenv:skill-config/v1", {
    description: "Installs skills for the agent's tasks.",
    endpoint: "/ext/skill-config",
    operations
  })
