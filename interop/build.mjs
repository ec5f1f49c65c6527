// Bundles the fixtures, from the packages' built output, into one file that starts fast: `npm run build` comes first.
import { build } from "esbuild"
import { existsSync } from "node:fs"
import { join } from "node:path"

const here = import.meta.dirname

if (!existsSync(join(here, "../packages/environment/dist/index.js"))) {
  console.error("the packages are not built yet: npm run build")
  process.exit(1)
}

await build({
  entryPoints: {
    fixture: join(here, "fixtures/main.ts"),
    "protolabs-vectors": join(here, "protolabs/vectors.mjs"),
    triggers: join(here, "triggers/ours.mjs")
  },
  outdir: join(here, "dist"),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  minify: true,
  keepNames: true,
  logLevel: "warning",
  // CommonJS dependencies ask for node's own modules with `require`
  banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" }
})
