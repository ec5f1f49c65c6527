// The server under test in one file, as an image would carry it.
import { build } from "esbuild"
import { join } from "node:path"

const bench = join(import.meta.dirname, "..")

export const bundled = join(bench, "dist/ours.js")

export const bundle = () =>
  build({
    entryPoints: [join(bench, "servers/ours.mjs")],
    outfile: bundled,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    minify: true,
    logLevel: "warning",
    // CommonJS dependencies ask for node's own modules with `require`
    banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" }
  })
