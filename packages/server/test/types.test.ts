import * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import type { HttpLayerRouter, HttpServer } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import { Context, Effect, type Exit, type Layer, type Runtime, type Scope } from "effect"

class Db extends Context.Tag("Db")<Db, { readonly one: number }>() {}
class Broken {
  readonly _tag = "Broken"
}
declare const routes: Effect.Effect<ReadonlyArray<Route.Route>, Broken, Db | Scope.Scope>
declare const calls: Calls.Calls<Db>
declare const onExit: (exit: Exit.Exit<number, "none">) => void
declare const plain: Runtime.Runtime<never>
declare const exchange: Exchange.Exchange

describe("types", () => {
  it("a layer of routes needs what its effect needs, but for the scope", () => {
    expectTypeOf(() => Route.layer(routes)).returns.toEqualTypeOf<
      Layer.Layer<never, Broken | Route.RouteCollision, Db | HttpLayerRouter.HttpRouter>
    >()
  })

  it("a server brings the router and keeps the rest", () => {
    expectTypeOf(() => Server.serve(Route.layer(routes), { port: 0, host: "127.0.0.1" })).returns
      .toEqualTypeOf<Layer.Layer<HttpServer.HttpServer, Broken | Route.RouteCollision | Server.ServeError, Db>>()
    expectTypeOf(() => Server.layer(Route.layer(routes))).returns
      .toEqualTypeOf<Layer.Layer<never, Broken | Route.RouteCollision, Db | HttpServer.HttpServer>>()
  })

  it("a call runs on a runtime that has its services, and its exit is typed", () => {
    const effect = Effect.flatMap(Db, (db) => db.one > 0 ? Effect.succeed(db.one) : Effect.fail("none" as const))
    expectTypeOf(() => calls.run(exchange, effect, calls.runtime, onExit)).returns.toEqualTypeOf<void>()
    // @ts-expect-error the runtime lacks Db
    expectTypeOf(() => calls.run(exchange, effect, plain, onExit)).returns.toEqualTypeOf<void>()
    expectTypeOf(() => Calls.withService(plain, Db, { one: 1 })).returns.toEqualTypeOf<Runtime.Runtime<Db>>()
    // @ts-expect-error not what the tag says
    expectTypeOf(() => Calls.withService(plain, Db, { two: 1 })).returns.toEqualTypeOf<Runtime.Runtime<Db>>()
    expectTypeOf(Calls.make<Db>).returns.toEqualTypeOf<Effect.Effect<Calls.Calls<Db>, never, Db | Scope.Scope>>()
  })
})
