import * as A2a from "@effect-agentenv/agent/A2a"
import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { ask, askFrames, askJson, Gate, layer, message, message1, rpc } from "./a2aAgent.ts"

const errorInfo = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "a2a-protocol.org"
})

const send = (text: string, more?: object, configuration?: object) =>
  askJson(rpc("message/send", { ...message(text, more), configuration }))
const send1 = (text: string, more?: object, configuration?: object) =>
  askJson(rpc("SendMessage", { ...message1(text, more), configuration }))

/** A task that was completed, or whatever its text makes of it. */
const taskOf = (text: string) => Effect.map(send(text), ({ result }) => result)

describe("A2a", () => {
  it.effect("B-TASK-1: a blocking send is answered with the finished task, and omitted blocking is blocking", () =>
    Effect.gen(function*() {
      for (const configuration of [{ blocking: true }, {}, undefined]) {
        const { result } = yield* send("go", {}, configuration)
        expect(result).toMatchObject({
          kind: "task",
          status: { state: "completed", message: { role: "agent", parts: [{ kind: "text", text: "ok" }] } }
        })
      }
      const { result } = yield* send1("go")
      expect(result.task).toMatchObject({
        status: { state: "TASK_STATE_COMPLETED", message: { role: "ROLE_AGENT", parts: [{ text: "ok" }] } }
      })
    }).pipe(Effect.provide(layer())))

  it.effect("B-TASK-2: a send that does not block is answered at once, on both wires", () =>
    Effect.gen(function*() {
      const { result } = yield* send("wait", {}, { blocking: false })
      expect(result.status).toStrictEqual({ state: "submitted" })
      const { result: result1 } = yield* send1("wait", {}, { returnImmediately: true })
      expect(result1.task.status).toStrictEqual({ state: "TASK_STATE_SUBMITTED" })
      const gate = yield* Gate
      const blocked = yield* Effect.fork(send("wait", { contextId: result.contextId }))
      yield* gate.open
      expect((yield* Fiber.join(blocked)).result.status.state).toBe("completed")
      expect((yield* askJson(rpc("tasks/get", { id: result.id }))).result.status.state).toBe("completed")
    }).pipe(Effect.provide(layer())))

  it.effect("B-TASK-3: a stream is the task, working, each progress, and one final end", () =>
    Effect.gen(function*() {
      const got = yield* askFrames(rpc("message/stream", message("say 2"), 7))
      expect(got.map(({ data }) => [data["id"], data["jsonrpc"]])).toEqual(got.map(() => [7, "2.0"]))
      const results = got.map(({ data }) => data["result"])
      expect(results.map(({ final, kind, status }) => [kind, status.state, final])).toEqual([
        ["task", "submitted", undefined],
        ["status-update", "working", false],
        ["status-update", "working", false],
        ["status-update", "working", false],
        ["status-update", "completed", true]
      ])
      expect(results[2]).toMatchObject({ metadata: { n: 0 }, status: { message: { parts: [{ text: "step 0" }] } } })
    }).pipe(Effect.provide(layer())))

  it.effect("a stream of the 1.0 wire says the same in its words", () =>
    Effect.gen(function*() {
      const got = yield* askFrames(rpc("SendStreamingMessage", message1("make")))
      expect(got.map(({ data }) => Object.keys(data["result"])[0])).toEqual([
        "task",
        "statusUpdate",
        "artifactUpdate",
        "statusUpdate"
      ])
      expect(got.at(-2)?.data["result"].artifactUpdate).toMatchObject({
        artifact: { artifactId: "a" },
        lastChunk: true
      })
      expect(got.at(-1)?.data["result"].statusUpdate).not.toHaveProperty("final")
    }).pipe(Effect.provide(layer())))

  it.effect("metadata stands where it was said to on both wires, and stays with the message and the artifact", () =>
    Effect.gen(function*() {
      const results = (yield* askFrames(rpc("message/stream", message("note")))).map(({ data }) => data["result"])
      const results1 = (yield* askFrames(rpc("SendStreamingMessage", message1("note")))).map(({ data }) =>
        Object.values<any>(data["result"])[0]
      )
      for (const [task, , noted, made, end] of [results, results1]) {
        expect([noted.metadata, noted.status.message.metadata]).toEqual([{ of: "event" }, { of: "message" }])
        expect([made.metadata, made.artifact.metadata]).toEqual([{ of: "its event" }, { of: "artifact" }])
        expect([end.metadata, end.status.message.metadata]).toEqual([undefined, { of: "answer" }])
        for (const get of ["tasks/get", "GetTask"]) {
          const { result } = yield* askJson(rpc(get, { id: task.id }))
          expect(result.history.at(-1).metadata).toEqual({ of: "message" })
          expect(result.status.message.metadata).toEqual({ of: "answer" })
          expect(result.artifacts[0].metadata).toEqual({ of: "artifact" })
          expect(result.metadata).toEqual({ of: "event" })
        }
      }
    }).pipe(Effect.provide(layer())))

  it.effect("A-14: the ids of a stream's frames are versions that only grow", () =>
    Effect.gen(function*() {
      const ids = (yield* askFrames(rpc("message/stream", message("say 3")))).map(({ id }) => Number(id))
      expect(ids.length).toBe(6)
      expect(ids.every((id, index) => Number.isInteger(id) && id > (ids[index - 1] ?? 0))).toBe(true)
    }).pipe(Effect.provide(layer())))

  it.effect("Last-Event-ID goes on after that event, and misses none", () =>
    Effect.gen(function*() {
      const all = yield* askFrames(rpc("message/stream", message("say 5")))
      const id = all[0]!.data["result"].id
      for (const from of [0, 2, all.length - 2]) {
        const rest = yield* askFrames(rpc("tasks/resubscribe", { id }), { "last-event-id": all[from]!.id! })
        expect(rest).toEqual(all.slice(from + 1))
      }
      const rest = yield* askFrames(rpc("SubscribeToTask", { id }), { "last-event-id": all[3]!.id! })
      expect(rest.map(({ id }) => id)).toEqual(all.slice(4).map(({ id }) => id))
    }).pipe(Effect.provide(layer())))

  it.effect("a resubscription begins with the task as it is; an id that is none of ours is nothing", () =>
    Effect.gen(function*() {
      const { result } = yield* send("wait", {}, { blocking: false })
      const listening = yield* Effect.fork(
        askFrames(rpc("tasks/resubscribe", { id: result.id }), { "last-event-id": "zz" })
      )
      yield* Effect.yieldNow()
      yield* (yield* Gate).open
      const got = yield* Fiber.join(listening)
      expect(got[0]?.data["result"]).toMatchObject({ kind: "task", id: result.id })
      expect(got.at(-1)?.data["result"]).toMatchObject({ kind: "status-update", final: true })
    }).pipe(Effect.provide(layer())))

  it.effect("B-TASK-10: what no task can be made of is refused in the reference's words", () =>
    Effect.gen(function*() {
      const stated = { code: -32602, message: "TextPart content cannot be empty" }
      expect(yield* send("")).toStrictEqual({ jsonrpc: "2.0", id: "r1", error: stated })
      expect((yield* askFrames(rpc("message/stream", message("")))).map(({ data }) => data["error"])).toEqual([stated])
      expect((yield* send("", { parts: [] })).error).toEqual({ code: -32602, message: "Message parts cannot be empty" })
      expect((yield* send1("")).error).toMatchObject(stated)
    }).pipe(Effect.provide(layer())))

  it.effect("A-16: a message to a finished task is refused on either wire, and starts no run", () =>
    Effect.gen(function*() {
      const { contextId, id } = yield* taskOf("go")
      const sentence = `Task ${id} is in terminal state: completed`
      const old = { code: -32602, message: sentence }
      expect((yield* send("go", { taskId: id })).error).toEqual(old)
      expect((yield* send("go", { taskId: id, contextId: "another" })).error).toEqual(old)
      expect((yield* askFrames(rpc("message/stream", message("go", { taskId: id }))))[0]?.data["error"]).toEqual(old)
      expect((yield* send1("go", { taskId: id })).error).toEqual({
        code: -32004,
        message: sentence,
        data: [errorInfo("UNSUPPORTED_OPERATION")]
      })
      const { result } = yield* askJson(rpc("ListTasks", { contextId }))
      expect(result.tasks.length).toBe(1)
    }).pipe(Effect.provide(layer())))

  it.effect("a task that requires input goes on with the next message of its context alone", () =>
    Effect.gen(function*() {
      const { contextId, id, status } = yield* taskOf("ask")
      expect(status.state).toBe("input-required")
      expect((yield* send("go", { taskId: id, contextId: "another" })).error).toEqual({
        code: -32602,
        message: "bad context id"
      })
      expect((yield* send("go", { taskId: id, contextId })).result).toMatchObject({
        id,
        contextId,
        status: { state: "completed" }
      })
    }).pipe(Effect.provide(layer())))

  it.effect("A-17: push notifications are refused, and a wish for them in a message goes nowhere", () =>
    Effect.gen(function*() {
      const refused = (method: string) =>
        Effect.map(askJson(rpc(method, { id: "t" })), ({ error }) => [error.code, error.message])
      const sentence = "Push notifications are not supported by the agent"
      expect(yield* refused("tasks/pushNotificationConfig/set")).toEqual([-32603, sentence])
      for (const method of ["get", "list", "delete"]) {
        expect(yield* refused(`tasks/pushNotificationConfig/${method}`)).toEqual([
          -32004,
          "This operation is not supported"
        ])
      }
      for (const method of ["Create", "Get", "Delete"]) {
        expect(yield* refused(`${method}TaskPushNotificationConfig`)).toEqual([-32003, sentence])
      }
      expect(yield* refused("ListTaskPushNotificationConfigs")).toEqual([-32003, sentence])
      const pushNotificationConfig = { url: "http://169.254.169.254/" }
      expect((yield* send("go", {}, { pushNotificationConfig })).result.status.state).toBe("completed")
    }).pipe(Effect.provide(layer())))

  it.effect("A-19: files come back as they were sent, on both wires and across them", () =>
    Effect.gen(function*() {
      const all = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString("base64")
      const files = [
        { bytes: all, name: "all", mimeType: "application/octet-stream" },
        { bytes: "", name: "empty" },
        { bytes: "aGk" },
        { uri: "https://h/a.png?b=c", mimeType: "image/png" }
      ]
      const parts = files.map((file) => ({ kind: "file", file }))
      const { result } = yield* send("", { parts: [{ kind: "text", text: "echo" }, ...parts] })
      expect(result.status.message.parts).toStrictEqual(parts)
      const parts1 = files.map(({ bytes, mimeType: mediaType, name: filename, uri: url }) =>
        JSON.parse(JSON.stringify({ raw: bytes, url, filename, mediaType }))
      )
      expect((yield* askJson(rpc("GetTask", { id: result.id }))).result.status.message.parts).toStrictEqual(parts1)
      const answer = yield* send1("", { parts: [{ text: "echo" }, ...parts1] })
      expect(answer.result.task.status.message.parts).toStrictEqual(parts1)
    }).pipe(Effect.provide(layer())))

  it.effect("historyLength: all unless said, the last so many, none for 0 and less", () =>
    Effect.gen(function*() {
      const { id } = yield* taskOf("say 3")
      const length = (historyLength?: number, method = "tasks/get") =>
        Effect.map(askJson(rpc(method, { id, historyLength })), ({ result }) => result.history?.length ?? 0)
      const all = yield* length()
      expect(all).toBeGreaterThan(2)
      expect(yield* Effect.forEach([2, 0, -1], (n) => length(n))).toEqual([2, 0, 0])
      expect(yield* Effect.forEach([2, 0], (n) => length(n, "GetTask"))).toEqual([2, 0])
      expect((yield* send("go", {}, { historyLength: 0 })).result.history).toBe(undefined)
    }).pipe(Effect.provide(layer())))

  it.effect("a task can be canceled while it runs, and not when it has ended", () =>
    Effect.gen(function*() {
      const { result } = yield* send("wait", {}, { blocking: false })
      expect((yield* askJson(rpc("tasks/cancel", { id: result.id }))).result).toMatchObject({
        kind: "task",
        id: result.id,
        status: { state: "canceled" }
      })
      const { id } = yield* taskOf("go")
      expect((yield* askJson(rpc("tasks/cancel", { id }))).error).toEqual({
        code: -32002,
        message: "Task cannot be canceled - current state: TaskState.completed"
      })
      expect((yield* askJson(rpc("CancelTask", { id }))).error).toEqual({
        code: -32002,
        message: "Task cannot be canceled",
        data: [errorInfo("TASK_NOT_CANCELABLE")]
      })
    }).pipe(Effect.provide(layer())))

  it.effect("an unknown task is -32001 everywhere, on streams of 0.3 in a frame", () =>
    Effect.gen(function*() {
      const error = { code: -32001, message: "Task not found" }
      const id = "nope"
      for (const method of ["tasks/get", "tasks/cancel"]) {
        expect((yield* askJson(rpc(method, { id }))).error).toEqual(error)
      }
      const [frame, ...more] = yield* askFrames(rpc("tasks/resubscribe", { id }))
      expect([frame, more]).toEqual([{ id: undefined, data: { jsonrpc: "2.0", id: "r1", error } }, []])
      expect((yield* send("go", { taskId: id })).error).toEqual({
        code: -32001,
        message: "Task nope was specified but does not exist"
      })
      for (const method of ["GetTask", "CancelTask", "SubscribeToTask"]) {
        expect((yield* askJson(rpc(method, { id }))).error).toEqual({ ...error, data: [errorInfo("TASK_NOT_FOUND")] })
      }
    }).pipe(Effect.provide(layer())))

  it.effect("an agent without streams refuses them as the reference does", () =>
    Effect.gen(function*() {
      const message0 = "Streaming is not supported by the agent"
      expect((yield* askJson(rpc("message/stream", message("go")))).error).toEqual({ code: -32603, message: message0 })
      for (const [method, params] of [["SendStreamingMessage", message1("go")], ["SubscribeToTask", { id: "t" }]]) {
        expect((yield* askJson(rpc(method as string, params))).error).toEqual({
          code: -32004,
          message: message0,
          data: [errorInfo("UNSUPPORTED_OPERATION")]
        })
      }
      // the reference lets callers of 0.3 listen again all the same
      expect((yield* askFrames(rpc("tasks/resubscribe", { id: "t" })))[0]?.data["error"].code).toBe(-32001)
    }).pipe(Effect.provide(layer({ streaming: false }))))

  it.effect("an extended card is refused, since there is none", () =>
    Effect.gen(function*() {
      expect((yield* askJson(rpc("agent/getAuthenticatedExtendedCard"))).error).toEqual({
        code: -32603,
        message: "Authenticated card not supported"
      })
      expect((yield* askJson(rpc("GetExtendedAgentCard"))).error.code).toBe(-32004)
    }).pipe(Effect.provide(layer())))

  it.effect("the method tells the version: a header is refused only when it names what nobody speaks", () =>
    Effect.gen(function*() {
      const code = (method: string, version: string) =>
        Effect.map(askJson(rpc(method, { id: "nope" }), { "a2a-version": version }), ({ error }) => error.code)
      expect(yield* Effect.forEach(["", "1", "1.0", "1.0.0", "1.5", "0.3"], (version) => code("GetTask", version)))
        .toEqual(Array(6).fill(-32001))
      expect(yield* Effect.forEach(["2.0", "abc", "10"], (version) => code("GetTask", version)))
        .toEqual(Array(3).fill(-32009))
      expect(yield* Effect.forEach(["1.0", "2.0", "abc"], (version) => code("tasks/get", version)))
        .toEqual(Array(3).fill(-32001))
      const { error } = yield* askJson(rpc("GetTask", { id: "t" }), { "a2a-version": "canary" })
      expect(error.data).toEqual([errorInfo("VERSION_NOT_SUPPORTED")])
      expect(JSON.stringify(error)).not.toContain("canary")
    }).pipe(Effect.provide(layer())))

  it.effect("ListTasks pages through tasks, newest first, each once", () =>
    Effect.gen(function*() {
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) ids.unshift((yield* send("make", { contextId: "c" })).result.id)
      yield* send("go", { contextId: "d" })
      const list = (params: object) => Effect.map(askJson(rpc("ListTasks", params)), ({ result }) => result)
      const seen: Array<string> = []
      let pageToken = ""
      do {
        const page = yield* list({ contextId: "c", pageSize: 2, pageToken })
        seen.push(...page.tasks.map(({ id }: { id: string }) => id))
        pageToken = page.nextPageToken
        if (pageToken === "") expect([page.totalSize, page.pageSize]).toEqual([5, 2])
      } while (pageToken !== "")
      expect(seen).toEqual(ids)
      expect((yield* list({})).totalSize).toBe(6)
      expect((yield* list({ status: "TASK_STATE_FAILED" })).tasks).toEqual([])
      expect((yield* list({ contextId: "c", pageSize: 1 })).tasks[0]).not.toHaveProperty("artifacts")
      const [task] = (yield* list({ contextId: "c", pageSize: 1, includeArtifacts: true, historyLength: 0 })).tasks
      expect([task.artifacts.length, task.history]).toEqual([1, undefined])
      expect((yield* list({ statusTimestampAfter: "2999-01-01T00:00:00Z" })).tasks).toEqual([])
      expect((yield* askJson(rpc("ListTasks", { pageToken: "zzz" }))).error).toMatchObject({
        code: -32602,
        data: [{}, { fieldViolations: [{ field: "pageToken" }] }]
      })
    }).pipe(Effect.provide(layer())))

  it.effect("what is no request is refused before anything is done, with the id that can be told", () =>
    Effect.gen(function*() {
      const request = rpc("message/send", message("go"))
      const cases: ReadonlyArray<readonly [unknown, number, unknown]> = [
        ["{nope", -32700, null],
        ["", -32700, null],
        [Uint8Array.of(0x22, 0xff, 0x22), -32700, null],
        ["[".repeat(10_000), -32700, null],
        [
          `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":${"[".repeat(600)}${"]".repeat(600)}}}`,
          -32700,
          null
        ],
        [[request], -32600, null],
        [[], -32600, null],
        ["5", -32600, null],
        ["null", -32600, null],
        ["\"x\"", -32600, null],
        [{ ...request, jsonrpc: "1.0" }, -32600, "r1"],
        [{ ...request, jsonrpc: null }, -32600, "r1"],
        [{ ...request, method: undefined }, -32600, "r1"],
        [{ ...request, method: 3 }, -32600, "r1"],
        [{ ...request, method: "" }, -32601, "r1"],
        [{ ...request, method: "__proto__" }, -32601, "r1"],
        [{ ...request, method: "tasks/list" }, -32601, "r1"],
        [{ ...request, params: "x" }, -32600, "r1"],
        [{ ...request, params: [1] }, -32600, "r1"],
        [{ ...request, params: null }, -32602, "r1"],
        [{ ...request, params: undefined }, -32602, "r1"],
        [{ ...request, params: {} }, -32602, "r1"],
        [{ id: "r1", method: "GetTask", params: {} }, -32600, "r1"],
        [rpc("GetTask", "x"), -32600, "r1"],
        [rpc("GetTask", [1]), -32602, "r1"],
        [rpc("GetTask", null), -32602, "r1"],
        [rpc("SendMessage"), -32602, "r1"],
        ["{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"message/send\",\"params\":{\"a\":\"\\ud800\"}}", -32602, 9]
      ]
      for (const [body, code, id] of cases) {
        const { json } = yield* ask(body)
        expect([json["error"]?.code, json["id"]], JSON.stringify(body).slice(0, 80)).toEqual([code, id])
      }
    }).pipe(Effect.provide(layer())))

  it.effect("ids are answered as they came, and what is none is refused", () =>
    Effect.gen(function*() {
      const got = (method: string, id: unknown) =>
        Effect.map(askJson({ ...rpc(method, { id: "nope" }), id }), ({ error, id }) => [error.code, id])
      for (const method of ["tasks/get", "GetTask"]) {
        for (const id of ["", 0, -3, "x".repeat(1000), Number.MAX_SAFE_INTEGER]) {
          expect(yield* got(method, id)).toEqual([-32001, id])
        }
        for (const id of [1.5, [], {}, 2 ** 60]) {
          expect(yield* got(method, id)).toEqual([-32600, null])
        }
      }
      // as a2a-python 0.3 reads them
      expect(yield* got("tasks/get", true)).toEqual([-32001, 1])
      expect(yield* got("GetTask", true)).toEqual([-32600, null])
      for (const id of [null, undefined]) {
        expect(yield* got("tasks/get", id)).toEqual([-32602, null])
        expect(yield* got("GetTask", id)).toEqual([-32001, null])
      }
    }).pipe(Effect.provide(layer())))

  it.effect("wrong params are told field by field, in the form of the wire, and never repeated", () =>
    Effect.gen(function*() {
      const { error } = yield* send("go", { contextId: { canary: 1 } })
      expect(error).toMatchObject({
        code: -32602,
        message: "Invalid parameters",
        data: [{ loc: ["params", "message", "contextId"] }]
      })
      const { error: error1 } = yield* send1("go", { parts: [{ text: ["canary"] }] })
      expect(error1).toMatchObject({
        code: -32602,
        message: "Validation failed",
        data: [errorInfo("INVALID_PARAMS"), {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "message.parts[0].text" }]
        }]
      })
      expect(JSON.stringify([error, error1])).not.toContain("canary")
    }).pipe(Effect.provide(layer())))

  it.effect("a request without jsonrpc is taken on the 0.3 wire, as the reference does", () =>
    Effect.gen(function*() {
      expect((yield* askJson({ id: 1, method: "message/send", params: message("go") })).result.kind).toBe("task")
    }).pipe(Effect.provide(layer())))

  it.effect("a body that is a value already is read, however deep it is", () =>
    Effect.gen(function*() {
      const { handle } = yield* A2a.A2a
      const text = (body: unknown) =>
        Effect.map(handle(body), (reply) => reply._tag === "Json" ? JSON.parse(reply.text) : undefined)
      expect((yield* text(rpc("message/send", message("go")))).result.kind).toBe("task")
      const deep: unknown = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)
      expect((yield* text(rpc("message/send", message("go", { metadata: { deep } })))).error.code).toBe(-32700)
      expect((yield* text(undefined)).error.code).toBe(-32600)
    }).pipe(Effect.provide(layer())))

  it.effect("a key __proto__ of metadata reaches the task and pollutes nothing", () =>
    Effect.gen(function*() {
      const body =
        `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user",` +
        `"parts":[{"kind":"text","text":"go"}],"metadata":{"__proto__":{"polluted":1}}}}}`
      const { result } = yield* askJson(body)
      expect(JSON.stringify(result.history[0].metadata)).toBe("{\"__proto__\":{\"polluted\":1}}")
      expect("polluted" in {}).toBe(false)
    }).pipe(Effect.provide(layer())))

  it.effect("what nobody expected is told as a correlation id", () =>
    Effect.gen(function*() {
      const failed = new TaskStore.TaskStoreError({ operation: "read", cause: "canary" })
      const die = Effect.dieMessage("canary")
      const broken: TaskEngine.TaskEngine["Type"] = {
        send: () => Effect.fail(failed),
        stream: () =>
          Effect.succeed({
            snapshot: { id: "t", contextId: "c", status: { state: "working" }, history: [], artifacts: [] },
            version: 1,
            next: die
          }),
        get: () => die,
        list: () => Effect.succeed([]),
        cancel: () => Effect.fail(new TaskEngine.TaskBusy({ reason: "running" })),
        resubscribe: () => Effect.fail(failed),
        drain: Effect.void
      } as never
      const { handle } = A2a.make(broken)
      const sentence = /^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/
      const read = (method: string, params: unknown) =>
        Effect.gen(function*() {
          const reply = yield* handle(JSON.stringify(rpc(method, params)))
          if (reply._tag === "Json") return reply.text
          let text = ""
          for (let next = yield* reply.next; next !== undefined; next = yield* reply.next) text += next
          return text
        })
      for (const [method, params] of [["message/send", message("go")], ["tasks/get", { id: "t" }]] as const) {
        const { error, id } = JSON.parse(yield* read(method, params))
        expect([id, error.code, sentence.test(error.message)]).toEqual(["r1", -32603, true])
      }
      for (const [method, params] of [["message/stream", message("go")], ["tasks/resubscribe", { id: "t" }]] as const) {
        const text = yield* read(method, params)
        expect(text).toMatch(/"error":\{"code":-32603,"message":"An unexpected.*\}\n\n$/)
        expect(text).not.toContain("canary")
      }
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("a server that closes says so", () =>
    Effect.gen(function*() {
      yield* (yield* TaskEngine.TaskEngine).drain
      for (const [method, params] of [["message/send", message("go")], ["SendStreamingMessage", message1("go")]]) {
        const { json, status } = yield* ask(rpc(method as string, params))
        expect([status, json["id"], json["error"].code]).toEqual([503, "r1", -32603])
      }
    }).pipe(Effect.provide(layer())))
})
