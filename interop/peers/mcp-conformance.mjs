// The server scenarios of the MCP conformance suite. What counts are the suite's own verdicts, less those that interop/conformance-baseline.json explains.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const name = "mcp-conformance"
export const order = 40
export const quick = true

const suite = fileURLToPath(
  new URL("dist/index.js", import.meta.resolve("@modelcontextprotocol/conformance/package.json"))
)
const preload = join(import.meta.dirname, "support/globSync.mjs")

const judged = new Set(["SUCCESS", "FAILURE"])

export const run = async (context) => {
  const checks = context.checks()
  const baseline = JSON.parse(readFileSync(join(context.interop, "conformance-baseline.json"), "utf8"))
  const { url } = await context.ours("mcp-suite-env")
  const results = mkdtempSync(join(tmpdir(), "interop-conformance-"))
  try {
    const args = [
      "--import",
      preload,
      suite,
      "server",
      "--url",
      `${url}/mcp`,
      "--suite",
      "all",
      "--output-dir",
      results
    ]
    const { code, errors } = await context.run(process.execPath, args)
    const scenarios = readdirSync(results).map((folder) => ({
      scenario: folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
      found: JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"))
    }))
    checks.demand(
      scenarios.length === 32,
      "the suite runs its 32 scenarios",
      `${scenarios.length}, exit ${code}: ${errors}`
    )
    for (const { found, scenario } of scenarios) {
      const { checks: known, reason, unjudged = false } = baseline[scenario] ?? {}
      const excused = (id) => reason !== undefined && (known === undefined || known.includes(id))
      const verdicts = found.filter(({ status }) => judged.has(status))
      for (const { errorMessage, id, status } of verdicts) {
        if (excused(id)) {
          checks.demand(status === "FAILURE", `${scenario} ${id} is in the baseline`, "it passes now: take it out")
        } else checks.record(status === "SUCCESS", `${scenario} ${id}`, errorMessage)
      }
      checks.demand(
        verdicts.length > 0 !== unjudged,
        `${scenario} is ${unjudged ? "not " : ""}judged`,
        `${verdicts.length} verdicts`
      )
      if (reason !== undefined) {
        checks.note(`not counted: ${scenario}${known === undefined ? "" : ` (${known.join(", ")})`}: ${reason}`)
      }
    }
    const ran = new Set(scenarios.map(({ scenario }) => scenario))
    for (const scenario of Object.keys(baseline)) {
      checks.demand(ran.has(scenario), `${scenario} of the baseline exists`, "no scenario has this name")
    }
  } finally {
    rmSync(results, { recursive: true, force: true })
  }
  return checks.result()
}
