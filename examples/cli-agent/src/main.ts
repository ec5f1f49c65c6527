/**
 * A command-line program made an agent: its arguments and environment are the agent's configuration, its output the task's progress and
 * result, its exit codes the task's failures, and a cancel ends it with all that it has started.
 *
 * `npm start -w examples/cli-agent` serves it on `A2A_HOST` and `A2A_PORT`. The program is `bin/scribe.mjs`.
 */
import {
  Agent,
  AgentConfig,
  AgentServer,
  Task,
  TaskFailure,
  type TaskRequest,
  TaskResult
} from "@effect-agentenv/agent"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { Command, type CommandExecutor, FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export class ScribeConfig extends AgentConfig.extend<ScribeConfig>("ScribeConfig")({
  style: AgentConfig.field(Schema.String, { default: () => "plain", description: "The program's --style." }),
  maxWords: AgentConfig.field(Schema.Int.pipe(Schema.positive()), {
    default: () => 200,
    alias: "max_words",
    description: "The program's --max-words."
  }),
  apiToken: AgentConfig.writeOnly(Schema.String, {
    default: () => "",
    alias: "api_token",
    description: "The program's SCRIBE_TOKEN."
  }),
  // other names would let a caller change how the program is run, not only what it does
  environment: AgentConfig.writeOnly(
    Schema.Record({ key: Schema.String.pipe(Schema.pattern(/^SCRIBE_[A-Z0-9_]+$/)), value: Schema.String }),
    { default: () => ({}), description: "Other variables of the program, SCRIBE_…" }
  )
}) {}

export const Scribe = Agent.make("scribe", {
  description: "Writes a text in a style.",
  version: "1.0.0",
  streaming: true,
  config: ScribeConfig,
  skills: [{ name: "Write", description: "Writes a text in the configured style.", tags: ["text"] }],
  extensions: [McpConfigV1]
})

// --- How the program is run ------------------------------------------------------------------------------------------

type Request = TaskRequest.TaskRequest<ScribeConfig>

const program = decodeURIComponent(new URL("../bin/scribe.mjs", import.meta.url).pathname)

/** The configuration file of the program, in a directory of the run's own, which is gone with it. */
const configFile = (servers: Request["mcpServers"]) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* files.makeTempDirectoryScoped({ prefix: "scribe-" })
    const file = path.join(directory, "mcp.json")
    const mcpServers = Object.fromEntries(
      Object.entries(servers).map(([name, { headers, url }]) => [
        name,
        { type: "http", url, headers: headers === undefined ? {} : Redacted.value(headers) }
      ])
    )
    yield* files.writeFileString(file, JSON.stringify({ mcpServers }), { mode: 0o600 })
    return file
  })

/** Secrets go by the environment and the file, never by the arguments, which every process listing shows. */
const commandOf = ({ config, parts }: Request, file: string): Command.Command =>
  Command.make(
    process.execPath,
    program,
    "--style",
    config.style,
    "--max-words",
    String(config.maxWords),
    "--mcp-config",
    file
  ).pipe(
    Command.env(
      { ...Redacted.value(config.environment), SCRIBE_TOKEN: Redacted.value(config.apiToken) },
      // what this process knows is none of the program's business
      { extendEnv: false }
    ),
    Command.feed(parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n"))
  )

/**
 * Ends the program and all that it has started, which is one process group: asked first, and killed when that takes too long. What
 * outlives the program is killed too.
 */
const stop = (running: CommandExecutor.Process): Effect.Effect<void> =>
  Effect.whenEffect(
    running.kill("SIGTERM").pipe(Effect.interruptible, Effect.timeout("3 seconds"), Effect.ignore),
    running.isRunning.pipe(Effect.orElseSucceed(() => false))
  ).pipe(
    Effect.zipRight(Effect.ignore(running.kill("SIGKILL")))
  )

const Line = Schema.parseJson(Schema.Struct({ type: Schema.Literal("progress", "result"), text: Schema.String }))

const broken = (code: string, message: string) =>
  new TaskFailure.TaskFailure({ code, message, errorType: "infra_error" })

const failures: Readonly<Record<number, TaskFailure.TaskFailure>> = {
  2: new TaskFailure.TaskFailure({
    code: "scribe.bad_arguments",
    message: "The program doesn't take its configuration."
  }),
  3: new TaskFailure.TaskFailure({ code: "scribe.no_token", message: "The program needs an api_token." }),
  4: new TaskFailure.TaskFailure({ code: "scribe.too_long", message: "The text has more than max_words words." })
}

/** Passes progress on, and answers the program's result, if it came to one. */
const read = (running: CommandExecutor.Process) =>
  running.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.mapEffect(Schema.decode(Line)),
    Stream.runFoldEffect(Option.none<string>(), (result, { text, type }) =>
      type === "result" ? Effect.succeedSome(text) : Effect.as(Task.progress(text), result)),
    Effect.catchTag("ParseError", () =>
      broken("scribe.unreadable", "The program said something unknown."))
  )

const write = (request: Request) =>
  Effect.gen(function*() {
    const file = yield* configFile(request.mcpServers)
    const running = yield* Effect.uninterruptible(
      Effect.tap(Command.start(commandOf(request, file)), (running) => Effect.addFinalizer(() => stop(running)))
    )
    // what it says of its errors may hold what it was given, so nobody is shown it
    yield* Effect.forkScoped(Stream.runDrain(running.stderr))
    const result = yield* read(running)
    const code = yield* Effect.mapError(running.exitCode, () => broken("scribe.killed", "A signal ended the program."))
    if (code !== 0) {
      return yield* failures[code] ?? broken("scribe.crashed", `The program ended with exit code ${code}.`)
    }
    if (Option.isNone(result)) return yield* broken("scribe.silent", "The program ended without a result.")
    return TaskResult.text(result.value)
  }).pipe(
    Effect.timeoutFail({
      duration: `${request.config.timeoutSeconds} seconds`,
      onTimeout: () => new TaskFailure.TaskFailure({ code: "scribe.timeout", message: "The program took too long." })
    }),
    Effect.catchTags({
      BadArgument: () => broken("scribe.not_started", "The program can't be run."),
      SystemError: () => broken("scribe.not_started", "The program can't be run.")
    })
  )

export const ScribeLive = Scribe.toLayer(Effect.succeed(write)).pipe(Layer.provide(NodeContext.layer))

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(Scribe).pipe(Layer.provide(ScribeLive), Layer.launch, NodeRuntime.runMain)
}
