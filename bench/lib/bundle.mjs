// What is measured of ours, each in one file, as an image would carry it.
import { build } from "esbuild"
import { join } from "node:path"

const bench = join(import.meta.dirname, "..")

export const bundled = join(bench, "dist/ours.js")
export const bundledAgent = join(bench, "dist/agent.js")
export const bundledStaging = join(bench, "dist/staging.js")
export const bundledTransfers = join(bench, "dist/transfers.js")

export const bundle = () =>
  build({
    entryPoints: {
      ours: join(bench, "servers/ours.mjs"),
      agent: join(bench, "servers/agent.mjs"),
      staging: join(bench, "servers/staging.mjs"),
      transfers: join(bench, "clients/ours.mjs")
    },
    outdir: join(bench, "dist"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    minify: true,
    logLevel: "warning",
    // CommonJS dependencies ask for node's own modules with `require`
    banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" }
  })
