// The Python that answers, with the one release of `regex` that ours is compared with: the reference takes any.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const interop = join(import.meta.dirname, "..")
const home = join(interop, ".venv-regex")
const pins = join(interop, "venv-regex.txt")

const run = (command, args) => {
  const { error, status } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] })
  if (error !== undefined) throw new Error(`${command}: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
}

/** Its path, made on first use and anew when the pin changes; `print` is told. */
export const python = (print) => {
  const found = join(home, "bin/python")
  const stamp = join(home, "pins.txt")
  const wanted = readFileSync(pins, "utf8")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return found
  print("making interop/.venv-regex: python3 -m venv, pip install -r venv-regex.txt …")
  rmSync(home, { recursive: true, force: true })
  run("python3", ["-m", "venv", home])
  run(found, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", pins])
  writeFileSync(stamp, wanted)
  return found
}
