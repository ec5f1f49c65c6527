import * as Protolabs from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8")

const rows = [...readme.matchAll(/^\| `(\w+)` +\| (yes|-) +\| (yes|-) +\| `(\w+)\.(\w+)` +\|$/gm)].map(
  ([, old, v2, v3, module, name]) => ({
    old: old ?? "",
    v2: v2 === "yes",
    v3: v3 === "yes",
    module: module ?? "",
    name: name ?? ""
  })
)

it("names a counterpart for every export of both Python releases", () => {
  expect(new Set(rows.filter(({ v2 }) => v2).map(({ old }) => old)).size).toBe(48)
  expect(new Set(rows.filter(({ v3 }) => v3).map(({ old }) => old)).size).toBe(46)
})

it("has every counterpart that the README names", () => {
  const modules: Record<string, object> = { ...Protolabs }
  const missing = rows.filter(({ module, name }) => modules[module] === undefined || !(name in modules[module]))
  expect(missing).toEqual([])
})
