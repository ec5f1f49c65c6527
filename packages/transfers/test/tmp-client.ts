import { WriteNamespaceGrant } from "@effect-agentenv/protocol/Grant"
import { NamespaceUploader, Source, Transfers } from "@effect-agentenv/transfers"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
const child = spawn(process.execPath, ["--conditions=@effect-agentenv/source", "--import", "tsx", "test/tmp-server.ts"], { stdio: ["ignore", "pipe", "inherit"] })
child.stdout.once("data", (d) => {
  const { n, ca } = JSON.parse(String(d))
  fs.writeFileSync("/tmp/perf-small", Buffer.alloc(10240, 1))
  const program = Effect.gen(function*() {
    const ns = yield* NamespaceUploader.make(yield* Schema.decode(WriteNamespaceGrant)(n))
    for (const [name, s] of [["bytes", Source.bytes(Buffer.alloc(10240, 1))], ["file", Source.file("/tmp/perf-small")], ["bytes", Source.bytes(Buffer.alloc(10240, 1))], ["file", Source.file("/tmp/perf-small")]] as const) {
      const t = performance.now(); const c = process.cpuUsage()
      yield* Effect.forEach(Array.from({ length: 1000 }, (_, i) => i), (i) => ns.upload(`o${i}`, s), { discard: true })
      const e = process.cpuUsage(c)
      console.log(name, Math.round(performance.now() - t), "cpu", Math.round((e.user + e.system) / 1000))
    }
  })
  Effect.runPromise(Effect.provide(program, Transfers.layer({ ca }))).then(() => { child.kill("SIGKILL"); fs.rmSync("/tmp/perf-small") })
})
