// Python environments of the peers (interop/.venv-*, not in git), made on first use and anew when their pins change.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const here = import.meta.dirname

const pins = {
  reference: join(here, "oracle/requirements.txt"),
  founding: join(here, "venv-founding.txt"),
  a2a: join(here, "venv-a2a.txt"),
  platform: join(here, "venv-platform.txt"),
  "protolabs-0.2.1": join(here, "venv-protolabs-0.2.1.txt"),
  "protolabs-0.3.0": join(here, "venv-protolabs-0.3.0.txt"),
  // one release: the reference takes any
  regex: join(here, "venv-regex.txt")
}

const run = (command, args) => {
  const { error, status } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] })
  if (error !== undefined) throw new Error(`${command}: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
}

/** The Python of a venv (a key of `pins`); `print` is told what is made. */
export const python = (name, print) => {
  const home = join(here, `.venv-${name}`)
  const found = join(home, "bin/python")
  const stamp = join(home, "pins.txt")
  const wanted = readFileSync(pins[name], "utf8")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return found
  print(`making interop/.venv-${name}: python3 -m venv, pip install -r ${pins[name].slice(here.length + 1)} …`)
  rmSync(home, { recursive: true, force: true })
  run("python3", ["-m", "venv", home])
  run(found, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", pins[name]])
  writeFileSync(stamp, wanted)
  return found
}
