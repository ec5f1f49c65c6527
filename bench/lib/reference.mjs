// The Python SDK that ours is compared with, in the virtual environment that `interop` uses too; made on first use.
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const interop = join(import.meta.dirname, "../../interop")
const venv = join(interop, ".venv-reference")

export const python = join(venv, "bin/python")
export const fixtures = join(interop, "oracle/fixtures.py")

const run = (command, args, stdio) => spawnSync(command, args, { stdio }).status === 0

/** Sees to it that the reference can be started. */
export const ensureReference = () => {
  if (run(python, ["-c", "import agentenv_protocol, mcp"], "ignore")) return
  console.log("Installing the Python reference, once …")
  const installed = run("python3", ["-m", "venv", venv], "inherit") &&
    run(python, [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "-r",
      join(interop, "oracle/requirements.txt")
    ], "inherit")
  if (!installed) throw new Error("the Python reference could not be installed: python3 with venv and pip is needed")
}
