// What our clients make of the reference's agents of one release.
import { AgentClient, AgentClientError, ClientError, ExtensionClient } from "@effect-agentenv/client"
import {
  AgentConfigV1,
  AttributionProbeV1,
  Extension,
  Grant,
  McpConfigV1,
  Operation,
  PeerAgentsV1,
  SkillConfigV1,
  SnapshotV1,
  TrajectoryV1,
  TriggersV1
} from "@effect-agentenv/protocol"
import { NodeHttpClient } from "@effect/platform-node"
import { Chunk, Effect, Fiber, Option, Redacted, Schema, Stream } from "effect"

const FailingV1 = Extension.make("urn:kiln:failing/v1", {
  endpoint: "/ext/failing/v1",
  operations: { fail: Operation.post({ request: Schema.Struct({ value: Schema.String }) }) }
})

const later = "2099-01-01T00:00:00Z"

const grants = {
  write: {
    media_type: "application/octet-stream",
    max_bytes: 100,
    write: { kind: "http-put", url: "https://store.kiln.example/a", expires_at: later }
  },
  read: {
    media_type: "application/octet-stream",
    max_bytes: 100,
    read: { kind: "http-get", url: "https://store.kiln.example/a", expires_at: later }
  },
  namespace: {
    root_path: "runs/1",
    expires_at: later,
    max_objects: 3,
    max_object_bytes: 100,
    max_total_bytes: 200,
    write: {
      kind: "http-post-policy",
      url: "https://store.kiln.example/",
      fields: {},
      path_field: "key",
      file_field: "file"
    }
  }
}

const decoded = (schema, value) => Schema.decodeUnknownSync(schema)(value)

const request = (operation, value) => decoded(operation.request, value)

export const runRelease = async (context, checks, release, version) => {
  const { equal, truthy } = context
  const at = async (fixture) => (await context.theirs(release, fixture)).url
  const check = (title, effect) =>
    checks.check(
      `${version}: ${title}`,
      () =>
        Effect.runPromise(
          effect.pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer), Effect.timeout("20 seconds"))
        )
    )
  const calls = (url, extension, run) =>
    Effect.flatMap(ExtensionClient.make(extension), run).pipe(
      Effect.provide(ExtensionClient.layerAgent({ baseUrl: url }))
    )
  const task = (reply) => {
    equal(reply._tag, "Task")
    return reply.task
  }
  const collect = (stream) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

  const urls = await Promise.all(
    ["full-agent", "stream-agent", "slow-agent", "peer-agent", "snapshot-agent"].map(at)
  )
  const [full, streaming, slow, peers, snapshots] = urls

  await check(
    "card, send, get, answers",
    Effect.gen(function*() {
      const client = yield* AgentClient.make({ baseUrl: full })
      equal((yield* client.card).name, "Kestrel Desk")
      const sent = task(yield* client.send("hi"))
      equal([sent.status.state, AgentClient.text(sent)], ["completed", "ok"])
      equal(Option.getOrUndefined(AgentClient.structuredOutput(sent)), { answer: 42 })
      equal(Option.getOrUndefined(AgentClient.usage(sent))?.toolCallCount, 1)
      equal((yield* client.get(sent.id)).status.state, "completed")
      const prompted = task(yield* client.prompt("hi", { every: "50 millis" }))
      equal([prompted.status.state, AgentClient.text(prompted)], ["completed", "ok"])
    })
  )
  await check(
    "streams to the final event",
    Effect.gen(function*() {
      const client = yield* AgentClient.make({ baseUrl: streaming })
      const events = yield* collect(client.stream("hi"))
      equal(events[0]._tag, "Task")
      equal(events.map((event) => AgentClient.text(event)).filter((words) => words !== ""), [
        "step one",
        "step two",
        "ok"
      ])
      equal([events.at(-1)._tag, events.at(-1).final], ["StatusUpdate", true])
    })
  )
  await check(
    "cancels while it runs, and follows it until then",
    Effect.gen(function*() {
      const client = yield* AgentClient.make({ baseUrl: slow })
      const { id } = task(yield* client.send("hang", { blocking: false }))
      const following = yield* Effect.fork(collect(client.resubscribe(id)))
      yield* Effect.sleep("300 millis")
      if (release === "founding") {
        const unsupported = yield* Effect.flip(client.cancel(id))
        return truthy(unsupported instanceof AgentClientError.UnsupportedOperation, unsupported)
      }
      equal((yield* client.cancel(id)).status.state, "canceled")
      // the reference ends such a stream without a word
      const cut = yield* Effect.flip(Fiber.join(following))
      truthy(cut instanceof AgentClientError.StreamCut, cut)
      equal((yield* client.get(id)).status.state, "canceled")
    })
  )
  await check(
    "what is refused is typed",
    Effect.gen(function*() {
      const client = yield* AgentClient.make({ baseUrl: slow })
      const unknown = yield* Effect.flip(client.get("nope"))
      truthy(unknown instanceof AgentClientError.TaskNotFound, unknown)
      const { id } = task(yield* client.send("hi"))
      const late = yield* Effect.flip(client.cancel(id))
      truthy(late instanceof AgentClientError.TaskNotCancelable, late)
      const empty = yield* Effect.flip(client.send(""))
      truthy(JSON.stringify(empty).includes("cannot be empty"), empty)
    })
  )
  await check(
    "failures are read",
    Effect.gen(function*() {
      const [expected, crash] = yield* Effect.promise(() => Promise.all([at("expected-failure"), at("crash-agent")]))
      const failureAt = (url) =>
        Effect.gen(function*() {
          const client = yield* AgentClient.make({ baseUrl: url })
          return Option.getOrThrow(AgentClient.failure(yield* client.send("hi")))
        })
      const declared = yield* failureAt(expected)
      equal([declared.state, declared.type, declared.code, declared.message], [
        "failed",
        "agent_error",
        "kiln.no_clay",
        "stock is empty"
      ])
      equal((yield* failureAt(crash)).type, "infra_error")
    })
  )
  await check(
    "agent-config",
    calls(full, AgentConfigV1, (config) =>
      Effect.gen(function*() {
        equal((yield* config.set({ model: "kestrel-2" })).status, "updated")
        equal((yield* config.get()).config.model, "kestrel-2")
      }))
  )
  await check(
    "mcp-config",
    calls(full, McpConfigV1, (servers) =>
      Effect.gen(function*() {
        const added = yield* servers.add({
          url: "https://a.kiln.example/mcp",
          name: "kiln",
          headers: Redacted.make({ "X-Kiln": "1" })
        })
        equal(added.name, "kiln")
        equal((yield* servers.list()).mcp_servers.kiln, { url: "https://a.kiln.example/mcp", has_headers: true })
      }))
  )
  await check(
    "skill-config: inline and a bundle",
    calls(full, SkillConfigV1, (skills) =>
      Effect.gen(function*() {
        equal((yield* skills.add({ name: "glaze", description: "Glazes.", skill_md: "# Glaze" })).name, "glaze")
        const bundle = {
          name: "fire",
          description: "Fires.",
          skill_bundle: {
            max_total_bytes: 100,
            files: [{ path: "SKILL.md", object: decoded(Grant.ReadObject, grants.read) }]
          }
        }
        equal((yield* skills.add(bundle)).name, "fire")
        equal(Object.keys((yield* skills.list()).skills).toSorted(), ["built-in", "fire", "glaze"])
      }))
  )
  await check(
    "trajectory of a finished task",
    Effect.gen(function*() {
      const client = yield* AgentClient.make({ baseUrl: full })
      const { id } = task(yield* client.send("hi"))
      yield* calls(full, TrajectoryV1, (trajectory) =>
        Effect.gen(function*() {
          const answer = yield* trajectory.get({ task_id: id })
          equal(answer.trajectory, [{ type: "result" }])
          const missing = yield* Effect.flip(trajectory.get({ task_id: "nope" }))
          truthy(missing instanceof ClientError.ExtensionCallError, missing)
        }))
    })
  )
  await check(
    "triggers",
    calls(full, TriggersV1, (triggers) =>
      Effect.gen(function*() {
        const rule = { id: "a", when: { type: "step", turn: 1 }, actions: [{ type: "say", text: "one" }] }
        yield* triggers.register({ triggers: [rule] })
        const decided = yield* triggers.decide({ turn: 1, solver_message: "hi", context_id: "c-1" })
        equal([decided.fired, decided.done, decided.parts.map(({ text }) => text)], [["a"], false, ["one"]])
        equal((yield* triggers.state()).triggers.map(({ id }) => id), ["a"])
      }))
  )
  await check(
    "peer-agents",
    calls(peers, PeerAgentsV1, (extension) =>
      Effect.gen(function*() {
        equal(yield* extension.set({ peers: [{ name: "p", url: "https://p.kiln.example", description: "d" }] }), {
          status: "updated"
        })
        equal((yield* extension.list()).peers.map(({ name }) => name), ["p"])
      }))
  )
  await check(
    "snapshot and its changelog, as the card has them",
    calls(snapshots, SnapshotV1, (snapshot) =>
      Effect.gen(function*() {
        const { load, save } = SnapshotV1.operations
        const { apply, enable } = SnapshotV1.features.changelog
        const saved = yield* snapshot.save(request(save, { context_id: "c-1", objects: { trajectory: grants.write } }))
        equal([saved.context_id, saved.objects.trajectory.size_bytes], ["c-1", 12])
        const loading = request(load, { objects: { trajectory: grants.read }, target_context_id: "c-9" })
        equal(yield* snapshot.load(loading), { context_id: "c-9" })
        const changelog = Option.getOrThrow(snapshot.changelog)
        equal(yield* changelog.enable(request(enable, { write_namespace: grants.namespace, roots: ["/w"] })), {
          roots: ["/w"]
        })
        const increments = [{ sequence: 1, object: grants.read }, { sequence: 4, object: grants.read }]
        equal((yield* changelog.apply(request(apply, { increments }))).count, 2)
        const outdated = request(save, { context_id: "wrong-response", objects: { trajectory: grants.write } })
        equal((yield* Effect.flip(snapshot.save(outdated))).status, 500)
      }))
  )
  await check(
    "an extension that fails, one that isn't there",
    Effect.gen(function*() {
      const failing = yield* Effect.promise(() => at("failing-ext"))
      yield* calls(failing, FailingV1, ({ fail }) =>
        Effect.gen(function*() {
          const failed = yield* Effect.flip(fail({ value: "x" }))
          truthy(failed instanceof ClientError.ExtensionCallError, failed)
          equal(failed.status, 500)
          truthy(!JSON.stringify(failed).includes("kiln-private-detail"), "it tells what failed")
        }))
      const absent = yield* Effect.flip(calls(slow, PeerAgentsV1, (extension) => extension.list()))
      truthy(absent instanceof ClientError.NotAdvertised, absent)
    })
  )
  if (release === "reference") {
    await check(
      "attribution probe",
      Effect.gen(function*() {
        const probing = yield* Effect.promise(() => at("probe-agent"))
        equal((yield* calls(probing, AttributionProbeV1, ({ probe }) => probe())).last_seen_attribution, {})
      })
    )
    await check(
      "a live trajectory, page by page while it grows",
      Effect.gen(function*() {
        const live = yield* Effect.promise(() => at("live-agent"))
        const client = yield* AgentClient.make({ baseUrl: live })
        const { id } = task(yield* client.send("hold", { blocking: false }))
        yield* calls(live, TrajectoryV1, (trajectory) =>
          Effect.gen(function*() {
            const page = trajectory.get({ task_id: id, after: 0, limit: 1 })
            // until the run has begun there is nothing to read
            const first = yield* Effect.repeat(Effect.zipLeft(page, Effect.sleep("50 millis")), {
              until: ({ has_more }) => has_more === true
            })
            equal([first.events.length, first.has_more, first.format], [1, true, "kiln-events/1"])
            const second = yield* trajectory.get({ task_id: id, after: first.next, limit: 10 })
            equal([second.events.map(({ index }) => index), second.has_more], [[1], false])
          }))
        yield* client.cancel(id)
      })
    )
  }
}
