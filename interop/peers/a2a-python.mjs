// The clients of a2a-sdk for Python against our agents: 0.3.26, and the newest 1.x on both of its wires.
import { runClients } from "./support/a2aChecks.mjs"
import { python } from "./support/a2aClients.mjs"

export const name = "a2a-python"
export const order = 71
export const quick = false
export const run = (context) =>
  runClients(context, [
    python(context, "a2a-sdk 0.3.26", "0.3", "reference", "a2a_v03.py"),
    python(context, "a2a-sdk 1.3.0 on 1.0", "1.0", "a2a", "a2a_v1.py", ["1.0"]),
    python(context, "a2a-sdk 1.3.0 on 0.3", "0.3", "a2a", "a2a_v1.py", ["0.3"])
  ])
