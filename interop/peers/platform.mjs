// The AgentEnv platform itself, without docker or a model (interop/oracle/platform): it deploys, checks, seeds and scores our
// environment. Its verdicts and its score are read, since its exit code says neither.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export const name = "platform"
export const order = 80
export const quick = "the task 'data'"

/** Where the platform copies the bundle's seed to, on this machine since nothing is deployed in a container. */
const seedFile = "/data/seed.json"

/** Runs `work`, then puts the seed's place back as it was. */
const keepingSeed = async (work) => {
  const folder = dirname(seedFile)
  const hadFolder = existsSync(folder)
  const before = existsSync(seedFile) ? readFileSync(seedFile) : undefined
  try {
    return await work()
  } finally {
    if (before !== undefined) writeFileSync(seedFile, before)
    else rmSync(seedFile, { force: true })
    if (!hadFolder && existsSync(folder)) rmdirSync(folder)
  }
}

const textOf = (path) => existsSync(path) ? readFileSync(path, "utf8") : ""

/** `verdicts.txt` has a line for each verification: its name, a space, its JSON. */
const verdictsOf = (text) =>
  Object.fromEntries(
    text.split("\n").filter((line) => line !== "").map((line) => {
      const space = line.indexOf(" ")
      return [line.slice(0, space), JSON.parse(line.slice(space + 1))]
    })
  )

/** `log.jsonl` has a line for each request that the platform sent, in the order of their answers. */
const requestsOf = (text) => text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

/** A network namespace of its own wants a superuser, if only of a user namespace of its own. */
const asRoot = process.getuid?.() === 0 ? [] : ["unshare", "--map-root-user"]

const task = async (context, checks, name, judge, scripts = join(context.interop, "oracle/platform")) => {
  const { interop } = context
  const venv = dirname(dirname(context.python("platform")))
  const work = mkdtempSync(join(tmpdir(), `interop-platform-${name}-`))
  const good = checks.result().failed
  const { code, errors } = await context.run("timeout", [
    "--kill-after=10",
    "300",
    ...asRoot,
    join(scripts, "loopback.sh"),
    join(scripts, "run.sh"),
    work,
    venv,
    name
  ], { env: { ...process.env, ENV_CMD: `'${join(interop, "platform-server")}' env 9101` } })
  const printed = textOf(join(work, "run.txt"))
  try {
    judge(verdictsOf(textOf(join(work, "verdicts.txt"))), printed, requestsOf(textOf(join(work, "log.jsonl"))))
  } catch (error) {
    checks.record(false, `${name}: its verdicts can be read`, error.message)
  }
  if (checks.result().failed === good) return rmSync(work, { recursive: true, force: true })
  context.print(`${name} ended with ${code}; its logs are in ${work}\n${printed.slice(-2000)}${errors}`)
}

const requiredFields = ["name", "protocolVersion", "url", "preferredTransport", "capabilities"]

const envonly = (checks) => ({ env_core_protocol: operations, environment_card }) => {
  const card = environment_card?.validated_environment_card
  checks.record(card?.accessible === true, "envonly: the card is accessible", JSON.stringify(card))
  for (const field of requiredFields) {
    checks.record(
      card?.required_fields?.[field]?.present === true,
      `envonly: the card has ${field}`,
      "it is not present"
    )
  }
  checks.record(
    card !== undefined && card.name_check?.matches !== false,
    "envonly: the name is the registered one",
    JSON.stringify(card)
  )
  const advertised = [card?.tools, card?.extensions].flat().join(", ")
  checks.record(
    advertised ===
      "add_parcel, list_parcels, urn:parcels:tag/v1, urn:agentenv:disable-tool/v1, urn:agentenv:enable-tool/v1",
    "envonly: the platform finds the tools and the extensions",
    `it finds ${advertised}`
  )
  for (const method of ["data/reset", "data/add", "data/get"]) {
    checks.record(
      operations?.[method]?.supported === true,
      `envonly: ${method} is supported`,
      JSON.stringify(operations)
    )
  }
}

const data = (checks) => ({ state }, printed) => {
  const score = /^\s*tasks\/data\.json v\d+: \w+ \(state: ([\d.]+)\)/m.exec(printed)?.[1]
  checks.record(Number(score) === 1, "data: the platform prints the score 1", `it prints ${score}`)
  checks.record(state?.score === 1, "data: the verdict's score is 1", JSON.stringify(state))
  checks.record(
    state?.results?.length === 1 && state.results[0].result === true,
    "data: the seed is found through MCP",
    JSON.stringify(state?.results)
  )
}

/** How the bundle's verifiers read a list of tools and a call, for a caller without a role. */
const verifier = (id, holds) =>
  `"""Whether add_parcel is there for a caller without a role."""
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def verify(mcp_url, run=None):
    async with streamable_http_client(mcp_url) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            names = sorted(tool.name for tool in (await session.list_tools()).tools)
            result = await session.call_tool("add_parcel", {"name": "teapot"})
    text = "".join(getattr(part, "text", "") for part in result.content)
    return [{"id": "${id}", "result": ${holds}, "description": f"{names} {text!r}"}]
`

const verify = (id) => ({
  id,
  type: "env_outcome_verifier",
  env_id: "parcels",
  file_artifact_id: `check_${id}`,
  verifier_id: id
})

const change = (action, role, tools) => ({
  id: `${action}-${role}`,
  type: "modify_env_tool_access",
  env_id: "parcels",
  action,
  role,
  tools,
  fail_task_on_error: true
})

/** The bundle with a task of ours: the platform takes a tool from a role and gives it back, without its gateway. */
const withAccessTask = async (context, use) => {
  const folder = mkdtempSync(join(tmpdir(), "interop-platform-bundle-"))
  try {
    const scripts = join(folder, "platform")
    cpSync(join(context.interop, "oracle/platform"), scripts, { recursive: true })
    const bundle = join(scripts, "bundle")
    writeFileSync(
      join(bundle, "tasks/access.json"),
      JSON.stringify([
        { id: "env", type: "deploy_env", env_id: "parcels" },
        change("disable", "default", ["add_parcel", "no_such_tool"]),
        verify("closed"),
        change("enable", "default", ["add_parcel"]),
        verify("opened")
      ])
    )
    const artifacts = {
      closed: "names == ['list_parcels'] and bool(result.isError) and text.startswith('permission_denied: ')",
      opened: "names == ['add_parcel', 'list_parcels'] and text == 'added teapot'"
    }
    for (const [id, holds] of Object.entries(artifacts)) {
      mkdirSync(join(bundle, "artifacts", `check_${id}`))
      writeFileSync(join(bundle, "artifacts", `check_${id}`, "verify.py"), verifier(id, holds))
    }
    await use(scripts)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const access = (checks) => (verdicts, _printed, requests) => {
  for (const id of ["closed", "opened"]) {
    checks.record(
      verdicts[id]?.score === 1,
      `access: the tool is ${id} after the platform's step`,
      JSON.stringify(verdicts[id])
    )
  }
  const changes = requests.filter(({ path }) => path.startsWith("/tools/")).map(({ answer }) => JSON.parse(answer))
  checks.record(
    JSON.stringify(changes) === JSON.stringify([
      { role: "default", disabled: ["add_parcel", "no_such_tool"], allowed: [] },
      { role: "default", disabled: ["no_such_tool"], allowed: ["add_parcel"] }
    ]),
    "access: each step is answered with the rules that the role then has",
    `the answers are ${JSON.stringify(changes)}`
  )
}

export const run = async (context) => {
  const checks = context.checks()
  await task(context, checks, "envonly", envonly(checks))
  await withAccessTask(context, (scripts) => task(context, checks, "access", access(checks), scripts))
  if (!context.quick) await keepingSeed(() => task(context, checks, "data", data(checks)))
  return checks.result()
}
