/**
 * How an agent is installed on a machine that is there already (area INST of the contract).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import * as standard from "../internal/standard.ts"

/**
 * The placeholders whose values the installer knows without being told (B-INST-2).
 *
 * @since 0.1.0
 * @category models
 */
export const resolvable: ReadonlyArray<string> = [
  "container",
  "work_dir",
  "agent_ctx_tar",
  "a2a_port",
  "agent_name",
  "workspace_dir",
  "litellm_api_key",
  "litellm_base_url"
]

/**
 * The names of the placeholders of a command, such as `agent_name` in `start {agent_name}`; the installer puts quoted values there.
 *
 * @since 0.1.0
 * @category combinators
 */
export const placeholders = (command: string): ReadonlyArray<string> =>
  Array.from(command.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g), ([, name = ""]) => name)

const known = (
  commands: ReadonlyArray<string> | undefined,
  declared: ReadonlyArray<string> | undefined
): boolean => {
  const names = new Set([...resolvable, ...(declared ?? [])])
  return (commands ?? []).every((command) => placeholders(command).every((name) => names.has(name)))
}

const Names = Schema.Array(
  Schema.String.pipe(Schema.filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name), {
    message: () => "must be a name: letters, digits and underscores"
  }))
)

const stranger = (commands: string, parameters: string) => ({
  message: () => `${commands} use a placeholder that is neither ${resolvable.join(", ")} nor in ${parameters}`
})

/**
 * How to install an agent: the commands that run in its container and on its host, what their placeholders need besides what is
 * `resolvable`, and the port that it listens on. A placeholder that nothing would fill in is refused (B-INST-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Installation = Schema.Struct({
  installCommands: Schema.Array(Schema.String),
  installCommandsHost: Schema.optional(Schema.Array(Schema.String)),
  requiredParams: Schema.optional(Names),
  requiredParamsHost: Schema.optional(Names),
  a2aPort: Schema.optional(Schema.Int.pipe(Schema.between(1, 65535, { message: () => "must be a port" })))
}).pipe(
  Schema.filter(
    ({ installCommands, requiredParams }) => known(installCommands, requiredParams),
    stranger("installCommands", "requiredParams")
  ),
  Schema.filter(
    ({ installCommandsHost, requiredParamsHost }) => known(installCommandsHost, requiredParamsHost),
    stranger("installCommandsHost", "requiredParamsHost")
  )
)

/**
 * How to install an agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Installation extends Schema.Schema.Type<typeof Installation> {}

/**
 * How an agent is installed: declared on its card, never called (B-INST-1). It is listed as `InstallV1.configure({ … })`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const InstallV1: Extension<"urn:agentenv:install/v1", {}, {}, Installation, "standard"> = standard.make(
  "urn:agentenv:install/v1",
  {
    description: "Says which commands install the agent.",
    configuration: Installation,
    cardParams: (installation) => ({
      install_commands: installation.installCommands,
      install_commands_host: installation.installCommandsHost ?? [],
      required_params: installation.requiredParams ?? [],
      required_params_host: installation.requiredParamsHost ?? [],
      ...(installation.a2aPort === undefined ? {} : { a2a_port: installation.a2aPort })
    })
  }
)
