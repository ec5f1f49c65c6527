import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

describe("JsonRpc", () => {
  it("keeps 0 and the empty string as ids", () => {
    expect(JsonRpc.success(0, {})).toEqual({ jsonrpc: "2.0", id: 0, result: {} })
    expect(JsonRpc.idOf({ id: 0 })).toBe(0)
    expect(JsonRpc.idOf({ id: "" })).toBe("")
  })

  it("reads no id from what has none", () => {
    for (const value of [undefined, null, 1, "id", [], {}, { id: null }, { id: true }, { id: {} }]) {
      expect(JsonRpc.idOf(value)).toBeNull()
    }
  })

  it("leaves data out of an error that has none (B-ENV-3)", () => {
    const error = { code: JsonRpc.ErrorCode.MethodNotFound, message: "no" }
    expect(Object.keys(JsonRpc.failure(null, error).error)).toEqual(["code", "message"])
    expect(JsonRpc.failure(1, { ...error, data: null }).error).toStrictEqual({ ...error, data: null })
  })

  it("names the codes of the data plane (B-ENV-3)", () => {
    expect(JsonRpc.ErrorCode).toMatchObject({
      ParseError: -32700,
      InvalidRequest: -32600,
      MethodNotFound: -32601,
      InvalidParams: -32602,
      HandlerFailed: -32000
    })
  })

  it.effect("decodes what it builds", () =>
    Effect.gen(function*() {
      const decode = Schema.decodeUnknown(JsonRpc.Response)
      const answers = [
        JsonRpc.success("a", { x: 1 }),
        JsonRpc.failure(null, { code: -32700, message: "bad" }),
        JsonRpc.failure(0, { code: -32000, message: "bad", data: { code: "reset_failed" } })
      ]
      for (const answer of answers) expect(yield* decode(answer)).toEqual(answer)
      expect(yield* decode({ jsonrpc: "2.0", error: { code: 1, message: "no id" } })).toMatchObject({ id: null })
    }))

  it.effect("refuses a response that neither succeeds nor fails", () =>
    Effect.gen(function*() {
      const decode = Schema.decodeUnknown(JsonRpc.Response)
      expect((yield* Effect.flip(decode({ jsonrpc: "2.0", id: 1 })))._tag).toBe("ParseError")
      expect((yield* Effect.flip(decode({ jsonrpc: "1.0", id: 1, result: {} })))._tag).toBe("ParseError")
    }))

  it("keeps the type of a result", () => {
    expectTypeOf(JsonRpc.success(1, { a: "b" }).result).toEqualTypeOf<{ a: string }>()
    expectTypeOf(JsonRpc.success(1, {})).toExtend<JsonRpc.Success>()
    expectTypeOf<JsonRpc.ErrorCode>().toExtend<number>()
  })
})
