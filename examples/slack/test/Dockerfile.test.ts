import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const json = (path: string) => JSON.parse(read(path))

/** The instructions of a Dockerfile, each on one line. */
const instructions = read("examples/slack/Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => line.replaceAll(/\s+/g, " ").trim())

const all = (keyword: string) =>
  instructions.filter((line) => line.startsWith(`${keyword} `)).map((line) => line.slice(keyword.length + 1))

const commands = all("RUN").flatMap((run) => run.split("&&").map((command) => command.trim()))
const command = (start: string): ReadonlyArray<string> => {
  const found = commands.find((each) => each.startsWith(start))
  expect(found, start).toBeDefined()
  return found!.split(" ")
}
const env = Object.fromEntries(all("ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("=", 2))))
const packed = command("npm pack").flatMap((word, i, words) => words[i - 1] === "-w" ? [word] : [])

const ignored = read("examples/slack/Dockerfile.dockerignore")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((pattern) =>
    new RegExp(`^${pattern.replaceAll(".", "\\.").replace("**/", "(.*/)?").replaceAll(/(?<![.)])\*/g, "[^/]*")}(/|$)`)
  )

describe("the image of the slack environment", () => {
  it("names files and commands that are in the repository, and that the build is given", () => {
    const named = [
      ...command("node ").filter((word) => word.startsWith("packages/")),
      command("npx esbuild")[2]!,
      ...packed.map((name) => join(name, "package.json")),
      "package.json",
      "package-lock.json"
    ]
    for (const path of named) {
      expect(existsSync(join(root, path)), path).toBe(true)
      expect(ignored.filter((pattern) => pattern.test(path)), path).toEqual([])
    }
    for (const path of ["node_modules/x", "packages/server/dist/a.js", "packages/server/node_modules", ".git/HEAD"]) {
      expect(ignored.some((pattern) => pattern.test(path)), path).toBe(true)
    }
    // what comes with `npm ci`
    expect(existsSync(join(root, command("node ")[1]!))).toBe(true)
    expect(existsSync(join(root, "node_modules/.bin/esbuild"))).toBe(true)
    expect(json("package.json").devDependencies).toHaveProperty("esbuild")
  })

  it.effect("installs all that its program imports, in the versions of the repository", () =>
    Effect.gen(function*() {
      const [, , entry] = command("npx esbuild")
      const { metafile } = yield* Effect.promise(() =>
        build({
          absWorkingDir: root,
          entryPoints: [entry!],
          bundle: true,
          packages: "external",
          platform: "node",
          format: "esm",
          metafile: true,
          write: false,
          outfile: "main.js"
        })
      )
      const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path))
      const pinned = Object.fromEntries(
        command("npm install").filter((word) => /.@\d/.test(word)).map((word) => {
          const at = word.lastIndexOf("@")
          return [word.slice(0, at), word.slice(at + 1)]
        })
      )
      for (const [name, version] of Object.entries(pinned)) {
        expect(json("package.json").devDependencies[name], name).toBe(version)
      }
      const manifests = Object.fromEntries(packed.map((path) => [json(`${path}/package.json`).name, path] as const))
      const available = (specifier: string): boolean => {
        const [scope = "", name = "", ...rest] = specifier.startsWith("@") ? specifier.split("/") : ["", specifier]
        const packageName = scope === "" ? name : `${scope}/${name}`
        const path = manifests[packageName]
        if (path === undefined) return packageName in pinned || specifier.startsWith("node:")
        const { exports, files } = json(`${path}/package.json`)
        const target: { default: string } | undefined = rest.length === 0 ? exports["."] : exports["./*"]
        const source = rest.length === 0 ? "src/index.ts" : `src/${rest.join("/")}.ts`
        return target !== undefined && files.includes("dist") && existsSync(join(root, path, source))
      }
      expect(imports.length).toBeGreaterThan(2)
      expect(imports.filter((specifier) => !available(specifier))).toEqual([])
      // and what the packed packages need of each other
      for (const path of packed) {
        const { dependencies = {}, peerDependencies = {} } = json(`${path}/package.json`)
        // npm brings what the registry has; what is packed here and what stands beside it must be named
        const own = Object.keys(dependencies).filter((name) => name.startsWith("@effect-agentenv/"))
        for (const name of [...own, ...Object.keys(peerDependencies)]) {
          expect(available(name), `${path} needs ${name}`).toBe(true)
        }
      }
    }))

  it("runs the server with the deploy contract's variables (B-ENV-14, P-ENV-2)", () => {
    expect(env).toMatchObject({ MCP_HOST: "0.0.0.0", MCP_PORT: "18765", ENVIRONMENT_NAME: "slack" })
    const outfile = command("npx esbuild").find((word) => word.startsWith("--outfile="))!.slice("--outfile=".length)
    expect(all("COPY")).toContain(`--from=build ${outfile} ./`)
    expect(all("CMD")).toEqual([JSON.stringify(["node", "main.js"]).replace(",", ", ")])
    expect(all("WORKDIR").at(-1)).toBe("/app")
    expect(all("EXPOSE")).toEqual([env["MCP_PORT"]])
    expect(all("USER")).toEqual(["node"])
  })

  it.effect("has the python3 that the platform's health check runs, and a check of its own that works (P-ENV-2)", () =>
    Effect.gen(function*() {
      expect(command("apt-get install")).toContain("python3")
      const [health] = all("HEALTHCHECK")
      const [python, ...args]: Array<string> = JSON.parse(health!.slice(health!.indexOf("[")))
      const server = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((socket) => void socket.end())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const address = server.address()
      const check = (port: number) =>
        Effect.async<number | string>((resume) => {
          execFile(python!, args, { env: { ...process.env, MCP_PORT: `${port}` } }, (error) =>
            resume(Effect.succeed(error === null ? 0 : error.code ?? 1)))
        })
      const found = yield* check(typeof address === "object" && address !== null ? address.port : 0)
      // a machine without python3 can say no more
      if (found === "ENOENT") return
      expect(found).toBe(0)
      expect(yield* check(1)).toBe(1)
    }).pipe(Effect.scoped))
})
