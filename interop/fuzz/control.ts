import { HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"

const collect: (() => void) | undefined = Reflect.get(globalThis, "gc")

/** Tells the parent process the port, and how much is on the heap whenever it asks. */
export const control: Layer.Layer<never, never, HttpServer.HttpServer> = Layer.effectDiscard(
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    process.on("message", () => {
      collect?.()
      process.send?.({ heap: process.memoryUsage().heapUsed })
    })
    process.send?.({ port: address._tag === "TcpAddress" ? address.port : 0 })
  })
)
