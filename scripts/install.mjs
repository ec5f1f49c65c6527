// Installs what the lock file names when that is missing here or older than it, so that `npm start` and `npm test` are the only
// commands that a fresh clone needs. Says nothing when there is nothing to do. Node's own modules only: it runs before the others.
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const changed = (...path) => statSync(join(root, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0

if (changed("node_modules", ".package-lock.json") < changed("package-lock.json")) {
  console.log("Installing dependencies (npm ci), once …")
  const npm = process.env["npm_execpath"]
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"]
  const { error, status } = spawnSync(
    npm === undefined ? "npm" : process.execPath,
    npm === undefined ? args : [npm, ...args],
    { cwd: root, stdio: ["ignore", "ignore", "inherit"] }
  )
  if (error !== undefined || status !== 0) {
    console.error(`npm ci failed${error === undefined ? "" : `: ${error.message}`}`)
    process.exit(status || 1)
  }
}
