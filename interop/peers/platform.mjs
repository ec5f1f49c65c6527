// The AgentEnv platform itself, without docker or a model (interop/oracle/platform): it deploys, checks, seeds, prompts and scores our
// environment and our agents.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as agents from "./support/platformAgents.mjs"
import * as tasks from "./support/platformTasks.mjs"

export const name = "platform"
export const order = 80
export const quick = "the tasks 'data', 'smoke' and 'objects', and the reference's servers beside ours"

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

const requiredFields = ["name", "protocolVersion", "url", "preferredTransport", "capabilities"]

const envonly = (checks) => ({ verdicts: { env_core_protocol: operations, environment_card } }) => {
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

const data = (checks) => ({ scores, verdicts: { state } }) => {
  checks.record(scores.state === 1, "data: the platform prints the score 1", `it prints ${JSON.stringify(scores)}`)
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

const access = (checks) => ({ requests, verdicts }) => {
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
  await tasks.run(context, checks, "envonly", envonly(checks))
  await withAccessTask(context, (scripts) => tasks.run(context, checks, "access", access(checks), { scripts }))
  if (!context.quick) await keepingSeed(() => tasks.run(context, checks, "data", data(checks)))
  await agents.ours(context, checks)
  if (!context.quick) await agents.mixed(context, checks)
  return checks.result()
}
