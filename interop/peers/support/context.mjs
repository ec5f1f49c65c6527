// What a step is given: servers of both sides, the peers' Pythons, and a place to count.
import { join } from "node:path"
import { python } from "../../venv.mjs"
import * as Checks from "./checks.mjs"
import * as processes from "./processes.mjs"

const interop = join(import.meta.dirname, "../..")

/** Servers must not take their names or ports from whoever started the run, nor clients go through a proxy. */
const cleanEnv = () => {
  const { A2A_PORT: _agent, ENVIRONMENT_NAME: _name, MCP_HOST: _host, MCP_PORT: _port, ...env } = process.env
  return { ...env, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" }
}

export const make = ({ print, quick, seed }) => {
  const servers = []
  const keep = (starting) => {
    servers.push(starting)
    return starting
  }
  const context = {
    interop,
    print,
    quick,
    seed,
    checks: () => Checks.make(print),
    equal: Checks.equal,
    truthy: Checks.truthy,
    /** The Python of `reference` (0.1.379), `founding` (0.1.270) or another venv. */
    python: (release) => python(release, print),
    run: processes.runToEnd,
    serve: (launch, patience) => keep(processes.serve(launch, patience)),
    /** A peer's program that is asked in lines of JSON: `{ ask, stop }`. */
    converse: (command, args, env = {}) => keep(processes.converse(command, args, { env: { ...cleanEnv(), ...env } })),
    /** One of our fixtures, on a free port: `{ url, port, pid, said, stop }`. */
    ours: (fixture, env = {}) =>
      keep(processes.serve((port) => ({
        // the script would only `exec` this, and its exit is ours to see
        command: process.execPath,
        args: [join(interop, "dist/fixture.js"), fixture, String(port)],
        env: { ...cleanEnv(), ...env }
      }))),
    /** One of the reference's fixtures, of a release and from `fixtures.py` unless told. */
    theirs: (release, fixture, script = "fixtures.py") => {
      const command = context.python(release)
      return keep(processes.serve((port) => ({
        command,
        args: [join(interop, "oracle", script), "--fixture", fixture, "--port", String(port)],
        env: cleanEnv()
      })))
    },
    /** An agent among the examples, as its users start it. */
    example: (example, env = {}) =>
      keep(processes.serve((port) => ({
        command: process.execPath,
        args: [
          "--conditions=@effect-agentenv/source",
          "--import",
          "tsx",
          join(interop, "../examples", example, "src/main.ts")
        ],
        env: { ...cleanEnv(), ...env, A2A_HOST: "127.0.0.1", A2A_PORT: String(port) }
      }))),
    /** A program of Python that serves on the port it is given. */
    pythonAgent: (release, program, env = {}) => {
      const command = context.python(release)
      return keep(
        processes.serve((port) => ({ command, args: [program, String(port)], env: { ...cleanEnv(), ...env } }))
      )
    },
    /** Runs a peer's own program, which says `ok - NAME` or `not ok - NAME: WHY` a check and `done` at its end. */
    program: async (checks, command, args) => {
      let done = false
      const { code, errors } = await processes.runToEnd(command, args, {
        env: cleanEnv(),
        onLine: (line) => {
          const [, bad, said] = /^(not )?ok - (.*)$/.exec(line) ?? []
          if (line === "done") done = true
          else if (said === undefined) print(line)
          else if (bad === undefined) checks.record(true, said)
          else {
            const [name, ...why] = said.split(": ")
            checks.record(false, name, why.join(": "))
          }
        }
      })
      if (!done) checks.record(false, "runs to its end", `ended with ${code}:\n${errors}`)
    }
  }
  const release = async () => {
    const started = await Promise.allSettled(servers)
    await Promise.all(started.map(({ value }) => value?.stop()))
  }
  return { context, release }
}
