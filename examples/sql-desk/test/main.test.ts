import { EnvironmentClient, Episode, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Grade, SqlDesk, SqlDeskLive } from "../src/main.ts"

const seed = [{
  kind: "text" as const,
  text: `
    INSERT INTO customers VALUES (1, 'Ada', 'pro'), (2, 'Grace', 'free');
    INSERT INTO tickets (id, customer_id, subject, priority)
    VALUES (1, 1, 'Cannot log in', 1), (2, 2, 'Invoice', 3), (3, 1, 'Dark mode', 5);
  `
}]

const Ticket = Schema.Struct({ id: Schema.Int, status: Schema.String })

const closedForAda = `
  SELECT avg((status = 'closed')::int) FROM tickets WHERE customer_id = 1
`

// One embedded Postgres serves all tests, one after the other: each begins with a reset.
describe.sequential("the SQL desk", () => {
  it.layer(EnvironmentTest.layer(SqlDesk).pipe(Layer.provide(SqlDeskLive)), { timeout: "60 seconds" })((it) => {
    it.effect("is seeded by SQL, worked on by tools and scored by a query", () =>
      Effect.gen(function*() {
        const { grade } = yield* ExtensionClient.make(Grade)
        const report = yield* Episode.run({
          seed: 1,
          data: seed,
          player: (tools) =>
            tools.callTool("sql_desk_execute", {
              sql: "UPDATE tickets SET status = 'closed' WHERE customer_id = 1 AND priority = 1 RETURNING id"
            }),
          scorers: {
            closed: Episode.scorer({
              data: Schema.Struct({ tickets: Schema.Array(Ticket) }),
              score: () => Effect.map(grade({ sql: closedForAda }), ({ score }) => score)
            })
          }
        })
        expect(report.score).toBe(0.5)
        expect(report.calls.map(({ ok }) => ok)).toEqual([true])
        const environment = yield* EnvironmentClient.EnvironmentClient
        const [part] = yield* environment.get()
        expect(part).toMatchObject({ kind: "data", data: { tickets: [{ status: "closed" }, {}, { status: "open" }] } })
      }))

    it.effect("answers rows, the schema, and what a statement changed", () =>
      Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        yield* environment.reset()
        yield* environment.add(seed)
        const tools = yield* ToolClient.ToolClient
        const tables = yield* tools.callTool("sql_desk_show_schema")
        expect(tables.structuredContent).toMatchObject({ result: [{ table: "customers" }, { table: "tickets" }] })
        const rows = yield* tools.callTool("sql_desk_query", { sql: "SELECT name FROM customers ORDER BY id" })
        expect(rows.structuredContent).toEqual({ result: [{ name: "Ada" }, { name: "Grace" }] })
        const deleted = yield* tools.callTool("sql_desk_execute", { sql: "DELETE FROM tickets WHERE id = 2" })
        expect(deleted.structuredContent).toEqual({ affected: 1, rows: [] })
      }))

    it.effect("says what is wrong with a statement, and that the agent may not change the schema", () =>
      Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        yield* environment.reset()
        const tools = yield* ToolClient.ToolClient
        const typo = yield* tools.callTool("sql_desk_query", { sql: "SELECT nme FROM customers" })
        expect(typo.isError).toBe(true)
        expect(typo.structuredContent).toMatchObject({ code: "42703", message: "column \"nme\" does not exist" })
        const write = yield* tools.callTool("sql_desk_query", { sql: "DELETE FROM customers" })
        expect(write.structuredContent).toMatchObject({ code: "25006" })
        const drop = yield* tools.callTool("sql_desk_execute", { sql: "DROP TABLE customers CASCADE" })
        expect(drop.structuredContent).toMatchObject({ code: "42501" })
      }))

    it.effect("refuses a grade that is no score", () =>
      Effect.gen(function*() {
        const { grade } = yield* ExtensionClient.make(Grade)
        const errors = yield* Effect.forEach(["SELECT 6", "SELECT NULL"], (sql) => Effect.flip(grade({ sql })))
        expect(errors).toMatchObject([{ code: "no_score" }, { code: "no_score" }])
      }))

    it.effect("starts over from the schema at every reset", () =>
      Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        yield* environment.reset()
        const fresh = yield* environment.get()
        yield* environment.add([...seed, { kind: "text", text: "ALTER TABLE customers ADD COLUMN vip BOOLEAN" }])
        expect(yield* environment.get()).not.toEqual(fresh)
        yield* environment.reset()
        expect(yield* environment.get()).toEqual(fresh)
      }))

    it.effect("takes a seed whole or not at all", () =>
      Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        yield* environment.reset()
        const error = yield* Effect.flip(environment.add([{
          kind: "text",
          text: "INSERT INTO customers VALUES (1, 'Ada', 'pro'); INSERT INTO customers VALUES (1, 'Twin', 'pro')"
        }]))
        expect(error.message).toContain("duplicate key")
        expect(yield* environment.get()).toEqual([{ kind: "data", data: { customers: [], tickets: [] } }])
      }))
  })
})
