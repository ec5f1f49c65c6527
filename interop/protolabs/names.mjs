// Compares the exports of installed protolabs-a2a wheels with the table in the package's README: names.mjs PYTHON …
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const readme = readFileSync(join(import.meta.dirname, "../../packages/protolabs/README.md"), "utf8")
const columns = { "0.2.1": 2, "0.3.0": 3 }
const rows = [...readme.matchAll(/^\| `(\w+)` +\| (yes|-) +\| (yes|-) +\| `[\w.]+` +\|$/gm)]

const asking = [
  "import importlib.metadata, json, protolabs_a2a",
  "print(json.dumps([importlib.metadata.version('protolabs-a2a'), protolabs_a2a.__all__]))"
].join("\n")

/** Answers what is wrong with the table for the release that a Python has installed; nothing when all names are there. */
export const wrongNames = (python) => {
  const [version, exported] = JSON.parse(execFileSync(python, ["-c", asking], { encoding: "utf8" }))
  const column = columns[version]
  if (column === undefined) return [`the README has no column for protolabs-a2a ${version}`]
  const named = new Set(rows.filter((row) => row[column] === "yes").map((row) => row[1]))
  return [
    ...exported.filter((name) => !named.has(name)).map((name) => `${version}: ${name} has no counterpart`),
    ...[...named].filter((name) => !exported.includes(name)).map((name) => `${version}: ${name} is no export`)
  ]
}

if (import.meta.filename === process.argv[1]) {
  const wrong = process.argv.slice(2).flatMap(wrongNames)
  for (const line of wrong) console.error(line)
  process.exitCode = wrong.length === 0 ? 0 : 1
}
