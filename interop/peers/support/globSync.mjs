// The MCP conformance suite imports `fs.globSync`, which Node 20 lacks; its server scenarios never call it. Loaded with `--import`.
import { register } from "node:module"

const fs = `import fs from "node:fs"
export default fs
export * from "node:fs"
export const globSync = fs.globSync ?? (() => { throw new Error("fs.globSync needs Node 22") })`

const hooks = `const fs = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}
export const resolve = (specifier, { parentURL = "" }, next) =>
  specifier === "fs" && parentURL.includes("/@modelcontextprotocol/conformance/")
    ? { url: fs, shortCircuit: true }
    : next(specifier)`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
