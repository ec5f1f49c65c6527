/**
 * A support desk whose state is a real database: Postgres, embedded.
 *
 * `data/reset` restores the schema, seeding is SQL, the agent's tools are a schema, a query and a statement, and a score is a query
 * that a trainer sends. Serves on `MCP_HOST` and `MCP_PORT` (18765 unless said) under `ENVIRONMENT_NAME`.
 */
import { Environment, EnvironmentServer, Seed, Tool } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation, Part } from "@effect-agentenv/protocol"
import { NodeRuntime } from "@effect/platform-node"
import { PGlite } from "@electric-sql/pglite"
import { Context, Effect, Layer, Schema } from "effect"

// --- The database ----------------------------------------------------------------------------------------------------

/** What Postgres said: a model corrects its statement by it. */
export class SqlFailure extends Schema.TaggedError<SqlFailure>()("SqlFailure", {
  code: Schema.String,
  message: Schema.String,
  hint: Schema.optionalWith(Schema.String, { exact: true })
}) {}

const toSqlFailure = (cause: unknown): SqlFailure => {
  const said = cause as { readonly code?: string; readonly message?: string; readonly hint?: string }
  return new SqlFailure({
    code: said.code ?? "XX000",
    message: said.message ?? String(cause),
    ...(said.hint === undefined ? {} : { hint: said.hint })
  })
}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, SqlFailure> =>
  Effect.tryPromise({ try: run, catch: toSqlFailure })

const Row = Schema.Record({ key: Schema.String, value: Schema.Unknown })

type Row = typeof Row.Type

/** Rows as JSON has them: a date is its ISO text. */
const toJson = (rows: ReadonlyArray<unknown>): ReadonlyArray<Row> => JSON.parse(JSON.stringify(rows))

interface Outcome {
  readonly rows: ReadonlyArray<Row>
  readonly affected: number
}

class Database extends Context.Tag("sql-desk/Database")<Database, {
  /** Starts over from the schema. */
  readonly restore: Effect.Effect<void, SqlFailure>
  /** Runs any number of statements, all or none of them. */
  readonly script: (sql: string) => Effect.Effect<void, SqlFailure>
  /** Runs one statement as the agent, who may read and write rows and nothing else. */
  readonly write: (sql: string) => Effect.Effect<Outcome, SqlFailure>
  /** Runs one statement as the agent, who may only read. */
  readonly read: (sql: string) => Effect.Effect<ReadonlyArray<Row>, SqlFailure>
}>() {
  static readonly layer: Layer.Layer<Database, SqlFailure> = Layer.scoped(
    Database,
    Effect.gen(function*() {
      const db = yield* Effect.acquireRelease(
        Effect.promise(() => PGlite.create()),
        (db) => Effect.promise(() => db.close())
      )
      const script = (sql: string) => attempt(() => db.transaction((tx) => tx.exec(sql)))
      const asAgent = (mode: "READ ONLY" | "READ WRITE", sql: string) =>
        attempt(() =>
          db.transaction(async (tx) => {
            await tx.exec(`SET TRANSACTION ${mode}; SET LOCAL ROLE agent`)
            return tx.query(sql)
          })
        ).pipe(Effect.map(({ affectedRows, rows }): Outcome => ({ rows: toJson(rows), affected: affectedRows ?? 0 })))

      yield* script("CREATE ROLE agent")
      const restore = Effect.zipRight(attempt(() => db.exec("DISCARD ALL")), script(schema))
      yield* restore
      return {
        restore,
        script,
        write: (sql) => asAgent("READ WRITE", sql),
        read: (sql) => Effect.map(asAgent("READ ONLY", sql), ({ rows }) => rows)
      }
    })
  )
}

const schema = `
  DROP SCHEMA public CASCADE;
  CREATE SCHEMA public;
  CREATE TABLE customers (id INT PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL DEFAULT 'free');
  CREATE TABLE tickets (
    id INT PRIMARY KEY,
    customer_id INT NOT NULL REFERENCES customers,
    subject TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
    priority INT NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5)
  );
  GRANT USAGE ON SCHEMA public TO agent;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO agent;
`

const describeSchema = `
  SELECT table_name AS "table", json_agg(column_name || ' ' || data_type ORDER BY ordinal_position) AS columns
  FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name ORDER BY table_name
`

// --- The environment -------------------------------------------------------------------------------------------------

const sql = Schema.NonEmptyString.annotations({ description: "One statement of Postgres SQL." })

const ShowSchema = Tool.make("{environment_name}_show_schema", {
  description: "List the tables and their columns.",
  success: Schema.Array(Schema.Struct({ table: Schema.String, columns: Schema.Array(Schema.String) })),
  annotations: { readOnlyHint: true }
})

const Query = Tool.make("{environment_name}_query", {
  description: "Read from the database.",
  parameters: { sql },
  success: Schema.Array(Row),
  failure: SqlFailure,
  annotations: { readOnlyHint: true }
})

const Execute = Tool.make("{environment_name}_execute", {
  description: "Change the database: INSERT, UPDATE or DELETE, with RETURNING if rows are wanted.",
  parameters: { sql },
  success: Schema.Struct({ affected: Schema.Int, rows: Schema.Array(Row) }),
  failure: SqlFailure,
  annotations: { destructiveHint: true }
})

/** For trainers, out of the agent's sight: a query whose single value is the score. */
export const Grade = Extension.make("urn:sql-desk:grade/v1", {
  description: "Score the database by a query that answers one number from 0 to 1.",
  operations: {
    grade: Operation.post({
      request: Schema.Struct({ sql }),
      response: Schema.Struct({ score: Schema.Number.pipe(Schema.between(0, 1)) })
    })
  }
})

export const SqlDesk = Environment.make("sql_desk", {
  tools: [ShowSchema, Query, Execute],
  extensions: [Grade],
  instructions: "You work at a support desk. Look at the schema before you query."
})

const decodeTables = Schema.decodeUnknown(ShowSchema.success)

const decodeGrade = Schema.decodeUnknown(Schema.Tuple(Grade.operations.grade.response))

export const SqlDeskLive = SqlDesk.toLayer(Effect.gen(function*() {
  const { read, restore, script, write } = yield* Database
  return {
    reset: restore,
    add: Seed.load(Schema.String, script),
    get: Effect.gen(function*() {
      const customers = yield* read("SELECT * FROM customers ORDER BY id")
      const tickets = yield* read("SELECT * FROM tickets ORDER BY id")
      return [Part.DataPart.make({ data: { customers, tickets } })]
    }),
    tools: {
      "{environment_name}_show_schema": () => Effect.flatMap(read(describeSchema), decodeTables),
      "{environment_name}_query": ({ sql }) => read(sql),
      "{environment_name}_execute": ({ sql }) => write(sql)
    },
    extensions: {
      "urn:sql-desk:grade/v1": {
        grade: ({ sql }) =>
          read(`SELECT (${sql})::float8 AS score`).pipe(
            Effect.flatMap(decodeGrade),
            Effect.map(([grade]) => grade),
            Effect.catchTag("ParseError", () =>
              new AgentEnvError.AgentEnvError({
                code: "no_score",
                message: "The query has to answer one number from 0 to 1."
              }))
          )
      }
    }
  }
})).pipe(Layer.provide(Database.layer))

if (process.argv[1] === import.meta.filename) {
  EnvironmentServer.serve(SqlDesk).pipe(Layer.provide(SqlDeskLive), Layer.launch, NodeRuntime.runMain)
}
