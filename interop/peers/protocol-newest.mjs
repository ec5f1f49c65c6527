// The clients of agentenv_protocol 0.1.379: card, data plane, extensions with error fields, `ToolSession`, and all that this release adds.
import { runNewest, runRelease } from "./support/protocolClients.mjs"

export const name = "protocol-newest"
export const order = 20
export const quick = true
export const run = async (context) => {
  const [all, newest] = [await runRelease(context, "reference"), await runNewest(context)]
  return {
    passed: all.passed + newest.passed,
    failed: all.failed + newest.failed,
    notes: [...all.notes, ...newest.notes]
  }
}
