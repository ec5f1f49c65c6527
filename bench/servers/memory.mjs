// The memory of this process once nothing is left to be collected. The collector is exposed when it is asked for and not by a flag of the
// command: under `--expose-gc` node can't use its cached code, starts slower and holds 7 MB more.
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

export const collectedMemory = () => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage()
}
