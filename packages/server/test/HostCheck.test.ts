import * as Health from "@effect-agentenv/server/Health"
import * as HostCheck from "@effect-agentenv/server/HostCheck"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { request, start, startLayer, wire } from "./support.ts"

describe("HostCheck.make", () => {
  it("is off when nothing or everything is allowed", () => {
    expect(HostCheck.make({})).toBeUndefined()
    expect(HostCheck.make({ hosts: "*", origins: ["https://a.example", "*"] })).toBeUndefined()
  })

  it("compares hosts without case, with an exact or an open port", () => {
    const check = HostCheck.make({ hosts: ["env.internal:18765", "localhost:*", "[::1]:*"] })!
    for (const host of ["env.internal:18765", "ENV.internal:18765", "localhost", "localhost:1", "[::1]:9"]) {
      expect(check(host, undefined)).toBeUndefined()
    }
    for (const host of ["env.internal", "env.internal:1", "localhost:evil", "localhost.evil:1", undefined]) {
      expect(check(host, undefined)).toEqual({ status: 421, detail: "Invalid Host header" })
    }
  })

  it("refuses a foreign origin and lets an absent one pass", () => {
    const check = HostCheck.make({ origins: ["https://app.example", "http://localhost:*"] })!
    for (const origin of [undefined, "https://app.example", "http://localhost:3000"]) {
      expect(check("any", origin)).toBeUndefined()
    }
    for (const origin of ["https://app.example.evil", "null", "http://localhost:3000.evil", "https://localhost:1"]) {
      expect(check("any", origin)).toEqual({ status: 403, detail: "Invalid Origin header" })
    }
  })
})

describe("a guarded server", () => {
  it.scoped("refuses on the front's paths, the router's and upgrades alike", () =>
    Effect.gen(function*() {
      const port = yield* start([Health.route], { hosts: ["127.0.0.1:*"], origins: ["https://app.example"] })
      for (const path of ["/health", "/unknown"]) {
        const refused = yield* request(port, path, { headers: { origin: "https://evil.example" } })
        expect([refused.status, refused.text]).toEqual([403, "{\"detail\":\"Invalid Origin header\"}"])
        const socket = yield* wire(port)
        socket.send(`GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
        expect(yield* socket.closed).toContain("HTTP/1.1 421 Misdirected Request")
      }
      const upgrade = yield* wire(port)
      upgrade.send("GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      expect(yield* upgrade.closed).toContain("HTTP/1.1 421")
      const allowed = yield* request(port, "/health", { headers: { origin: "https://app.example" } })
      expect(allowed.status).toBe(200)
    }))

  it.scoped("answers everyone when no list is given", () =>
    Effect.gen(function*() {
      const port = yield* startLayer(Health.layer)
      const answer = yield* request(port, "/health", { headers: { origin: "https://evil.example" } })
      expect([answer.status, answer.text]).toEqual([200, "{\"status\":\"ok\"}"])
    }))
})
