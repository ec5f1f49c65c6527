// Runs the contract's wire vectors against our fixtures: npm run conformance [-- --only AREAS] [--newest] [--jobs N]
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

const here = import.meta.dirname

/** The areas that are done of the newest vectors, which run when none is named; of the others all are. */
const doneOfNewest = ["ERR", "TOOL", "HOOK", "MULTI", "ACC", "TSESS", "CLIENT"]

const fail = (message) => {
  console.error(message)
  process.exit(2)
}

const options = () => {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        newest: { type: "boolean", default: false },
        jobs: { type: "string", default: "2" },
        verbose: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false }
      }
    }).values
  } catch (error) {
    return fail(error.message)
  }
}

const { help, jobs, newest, only, verbose } = options()
const file = newest ? "agentenv-newest-vectors.json" : "agentenv-vectors.json"
const vectors = join(here, "conformance", file)
const all = JSON.parse(readFileSync(vectors, "utf8"))
const known = [...new Set(all.map((vector) => vector.area))]
const done = newest ? doneOfNewest : known

if (help) {
  console.log(`npm run conformance [-- OPTIONS]

Runs wire vectors of docs/contract, each against a fresh server of its own (interop/fixture), and closes with
'N passed, N failed, N skipped'. Exits 1 when one fails.

  --only AREAS   areas or names of items, separated by commas (default: ${newest ? done.join(",") : "all"})
                 areas of ${file}: ${known.join(", ")}
  --newest       the vectors of docs/contract/agentenv-newest.md instead of those of agentenv.md
  --jobs N       how many servers run at once (default: 2)
  --verbose      prints the vectors that pass, too
  --help         this`)
  process.exit(0)
}

if (!/^[1-9]\d*$/.test(jobs)) fail(`--jobs takes a whole number from 1, not '${jobs}'`)

const areas = only === undefined ? done : only.split(",").map((area) => area.trim())
for (const area of areas) {
  if (area === "" || !all.some((vector) => vector.area === area || vector.name.startsWith(area))) {
    fail(`area '${area}' selects no vector of ${file}; its areas are ${known.join(", ")}`)
  }
}
if (!existsSync(join(here, "dist/fixture.js"))) fail("the fixtures are not built yet: npm run build")

const child = spawn(process.execPath, [
  join(here, "conformance/run.mjs"),
  "--vectors",
  vectors,
  "--serve",
  `'${join(here, "fixture").replaceAll("'", "'\\''")}' {fixture} {port}`,
  "--only",
  areas.join(","),
  "--jobs",
  jobs,
  ...(verbose ? ["--verbose"] : [])
], { stdio: "inherit" })
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("exit", (code) => process.exit(code ?? 1))
