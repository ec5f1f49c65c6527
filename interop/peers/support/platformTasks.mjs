// Runs tasks of the AgentEnv platform's bundle (interop/oracle/platform) in a network namespace of their own, and reads what became of
// them. The platform's exit code says neither its verdicts nor its score.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

const textOf = (path) => existsSync(path) ? readFileSync(path, "utf8") : ""

const lines = (text) => text.split("\n").filter((line) => line !== "")

/** `verdicts.txt` has a line for each verification: its name, a space, its JSON. */
const verdictsOf = (text) =>
  Object.fromEntries(
    lines(text).map((line) => {
      const space = line.indexOf(" ")
      return [line.slice(0, space), JSON.parse(line.slice(space + 1))]
    })
  )

/** `log.jsonl` has a line for each request that was sent to a server, in the order of their answers. */
const requestsOf = (text) => lines(text).map((line) => JSON.parse(line))

/** The scores that the platform prints behind a task, by their steps. */
const scoresOf = (task, text) => {
  const [, printed = ""] = new RegExp(`^\\s*tasks/${task}\\.json v\\d+: \\w+ \\(([^)]*)\\)`, "m").exec(text) ?? []
  return Object.fromEntries(
    printed.split(", ").filter((score) => score !== "").map((score) => {
      const [step, value] = score.split(": ")
      return [step, Number(value)]
    })
  )
}

/** A network namespace of its own wants a superuser, if only of a user namespace of its own. */
const asRoot = process.getuid?.() === 0 ? [] : ["unshare", "--map-root-user"]

const places = { env: ["ENV_CMD", 9101], agent: ["AGENT_CMD", 9102], agent2: ["AGENT2_CMD", 9103] }

/** The commands of our servers; `run.sh` starts the reference's where none is given. */
const commands = (server, ours) =>
  Object.fromEntries(
    ours.map((place) => {
      const [variable, port] = places[place]
      return [variable, `'${server}' ${place === "env" ? "env" : "agent"} ${port}`]
    })
  )

/**
 * Runs `task` with `ours` of the servers `env`, `agent` and `agent2`, and the reference's in the other places, then lets `judge` see
 * `{ verdicts, scores, requests }`. The logs stay where a check failed.
 */
export const run = async (
  context,
  checks,
  task,
  judge,
  { label = task, ours = ["env"], scripts = join(context.interop, "oracle/platform"), variables = {} } = {}
) => {
  const venv = dirname(dirname(context.python("platform")))
  const work = mkdtempSync(join(tmpdir(), `interop-platform-${task}-`))
  const good = checks.result().failed
  const { code, errors } = await context.run("timeout", [
    "--kill-after=10",
    "300",
    ...asRoot,
    join(scripts, "loopback.sh"),
    join(scripts, "run.sh"),
    work,
    venv,
    task
  ], { env: { ...process.env, ...commands(join(context.interop, "platform-server"), ours), ...variables } })
  const printed = textOf(join(work, "run.txt"))
  checks.demand(code === 0, `${label}: no step fails`, `it ended with ${code}`)
  try {
    judge({
      verdicts: verdictsOf(textOf(join(work, "verdicts.txt"))),
      scores: scoresOf(task, printed),
      requests: requestsOf(textOf(join(work, "log.jsonl")))
    })
  } catch (error) {
    checks.record(false, `${label}: its verdicts can be read`, error.message)
  }
  if (checks.result().failed === good) return rmSync(work, { recursive: true, force: true })
  context.print(`${label} ended with ${code}; its logs are in ${work}\n${printed.slice(-2000)}${errors}`)
}
