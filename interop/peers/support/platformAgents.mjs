// The tasks of the platform's bundle that want agents: ours on our environment, and each of ours beside the reference's other servers.
import * as tasks from "./platformTasks.mjs"

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** Where a verdict says no, by its paths. */
const noes = (value, path = "") =>
  value === false
    ? [path]
    : typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => noes(inner, path === "" ? key : `${path}.${key}`))
    : []

/** What the platform asks for and can do without. */
const optional = /^validated_agent_card\.optional_fields\./

/** Each verdict is there, says no to nothing, and its score, if it has one, is 1. */
const approved = (checks, label, verdicts, names) => {
  for (const name of names) {
    const verdict = verdicts[name]
    const against = noes(verdict).filter((path) => !optional.test(path))
    checks.record(
      verdict !== undefined && against.length === 0 && (verdict.score ?? 1) === 1,
      `${label}: the verdict '${name}'`,
      JSON.stringify(verdict)
    )
  }
}

const scored = (checks, label, scores, steps) =>
  checks.record(
    same(scores, Object.fromEntries(steps.map((step) => [step, 1]))),
    `${label}: the platform prints the score 1 for ${steps.join(", ")}`,
    `it prints ${JSON.stringify(scores)}`
  )

const agentVerdicts = [
  "a2a_agent_card",
  "a2a_agent_config_identity",
  "a2a_role",
  "a2a_core_protocol",
  "a2a_peer_agents",
  "a2a_system_prompt",
  "state",
  "skills",
  "recall"
]

const smoke = (checks, label) => ({ scores, verdicts }) => {
  scored(checks, label, scores, ["says", "state"])
  approved(checks, label, verdicts, ["says", "state"])
}

const objects = (checks, label) => ({ scores, verdicts }) => {
  scored(checks, label, scores, ["state", "saw", "recalled"])
  approved(checks, label, verdicts, agentVerdicts)
}

const full = (checks, label) => (run) => {
  objects(checks, label)(run)
  const decisions = run.requests.filter(({ path }) => path === "/ext/triggers/decide").map(({ answer }) =>
    JSON.parse(answer)
  )
  checks.record(
    same(decisions.map(({ done, fired }) => ({ done, fired })), [{ done: false, fired: ["t1"] }, {
      done: false,
      fired: []
    }]),
    `${label}: the trigger fires in the first turn alone`,
    `the decisions are ${JSON.stringify(decisions)}`
  )
  checks.record(
    run.requests.some(({ body, path, to }) =>
      to === "agent" && path === "/a2a" && body.includes("message/send") && body.includes("Add another teapot.")
    ),
    `${label}: the agent is told what the trigger says`,
    "it is not"
  )
}

const gateway = (checks, label, ours) => ({ requests, scores, verdicts }) => {
  scored(checks, label, scores, ["state"])
  // no environment serves an OpenAPI document, so that 'spec_conformance' has nothing to judge; the reference describes no parameter
  const ofTools = ours.includes("env") ? ["mcp_tool_schema"] : []
  approved(checks, label, verdicts, ["environment_card", "env_core_protocol", "state", ...ofTools])
  const calls = requests.filter(({ path, to }) => to === "env" && path === "/mcp").map(({ body }) =>
    body === "" ? {} : JSON.parse(body)
  ).filter(({ method, params }) => method === "tools/call" && params.name === "add_parcel")
  checks.record(
    same(calls.map(({ params }) => params._meta?.["agentenv.io/role"]), ["solver", "persona"]),
    `${label}: the tool is called by the solver, then by the persona that its trigger wakes`,
    `the calls are ${JSON.stringify(calls)}`
  )
}

const all = { smoke, objects, full, gateway }

const pairs = [["env"], ["agent"]]

/** Whose servers stand in the places that are not ours; with two agents they talk with each other. */
const mixtures = {
  smoke: pairs,
  objects: pairs,
  full: [["env", "agent2"], ["agent"]],
  gateway: [["env", "agent2"], ["agent"]]
}

const variables = { smoke: {}, objects: {}, full: { TWO: "1" }, gateway: { TWO: "1", GATEWAY: "1" } }

const runOne = (context, checks, task, ours) => {
  const label = `${task} with ${ours.length === 3 ? "ours alone" : `our ${ours.join(" and ")}`}`
  return tasks.run(context, checks, task, all[task](checks, label, ours), { label, ours, variables: variables[task] })
}

/** The tasks with our servers alone; quickly, those that have all steps of the others. */
export const ours = async (context, checks) => {
  for (const task of context.quick ? ["full", "gateway"] : Object.keys(all)) {
    await runOne(context, checks, task, ["env", "agent", "agent2"])
  }
}

/** The tasks with the reference's servers in one place or the other. */
export const mixed = async (context, checks) => {
  for (const [task, each] of Object.entries(mixtures)) {
    for (const ours of each) await runOne(context, checks, task, ours)
  }
}
