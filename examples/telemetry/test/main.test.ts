import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { trace, tree } from "../src/main.ts"

describe("the telemetry example", () => {
  it.effect("exports one trace, from the agent's turn down to the author's code", () =>
    Effect.gen(function*() {
      const spans = yield* trace
      const called = "mcp.method.name=tools/call gen_ai.tool.name=library_lend http.request.body.size="
      expect(tree(spans)).toEqual([
        "agent    agent.turn",
        "agent      ToolClient.callTool",
        "agent        http.client POST",
        "library        http.server POST",
        expect.stringContaining(`library          tools/call library_lend ${called}`),
        "library            Library.lend"
      ])
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    }))

  it.effect("sends ids and sizes of the library's spans, and nothing of what was lent", () =>
    Effect.gen(function*() {
      const spans = (yield* trace).filter(({ service }) => service === "library")
      expect(spans).toHaveLength(3)
      expect(JSON.stringify(spans)).not.toContain("Emma")
    }))
})
