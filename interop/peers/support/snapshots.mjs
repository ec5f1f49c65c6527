// Snapshots and changelogs through grants, over TLS: the reference's models at an agent of ours, our client at an agent of the reference.
import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { Grant, SnapshotV1 } from "@effect-agentenv/protocol"
import { ObjectStore } from "@effect-agentenv/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Exit, Option, Schema, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const wire = {
  read: Schema.encodeSync(Grant.ReadObject),
  write: Schema.encodeSync(Grant.WriteObject),
  namespace: Schema.encodeSync(Grant.WriteNamespaceGrant)
}

const run = (effect) =>
  Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer), Effect.timeout("30 seconds")))

/** Says something to an agent, and answers what it says. */
const say = (url, text, contextId) =>
  run(Effect.gen(function*() {
    const client = yield* AgentClient.make({ baseUrl: url })
    const reply = yield* client.send(text, { contextId })
    return { contextId: reply.task.contextId, text: AgentClient.text(reply), state: reply.task.status.state }
  }))

const calls = (url, use) =>
  run(
    Effect.flatMap(ExtensionClient.make(SnapshotV1), use).pipe(
      Effect.provide(ExtensionClient.layerAgent({ baseUrl: url }))
    )
  )

/** One trip: what an agent kept is on another one, the changes made since included. `snapshots` are the four operations on the wire's JSON. */
const trip = async (context, checks, title, { names, root, snapshots, start, store }) => {
  const { equal, truthy } = context
  const [first, second] = [(await start()).url, (await start()).url]
  const objects = async (kind) => ({
    trajectory: wire[kind](await Effect.runPromise(store[`${kind}Object`](`${root}/trajectory`))),
    workspace: wire[kind](await Effect.runPromise(store[`${kind}Object`](`${root}/workspace`)))
  })
  let contextId
  await checks.check(`${title}: saves`, async () => {
    ;({ contextId } = await say(first, "write a.txt one"))
    const saved = await snapshots.save(first, { context_id: contextId, objects: await objects("write") })
    equal(saved.context_id, contextId)
    truthy(saved.objects.trajectory.size_bytes > 0, JSON.stringify(saved))
    truthy(Option.isSome(await Effect.runPromise(store.get(`${root}/workspace`))), "no workspace in the store")
  })
  await checks.check(`${title}: logs changes`, async () => {
    const write_namespace = wire.namespace(
      await Effect.runPromise(store.writeNamespace(`${root}/log`, { maxObjects: 10 }))
    )
    const { roots } = await snapshots.enable(first, { write_namespace })
    truthy(Array.isArray(roots), JSON.stringify(roots))
    equal((await say(first, "write a.txt two", contextId)).state, "completed")
    equal((await say(first, "write b.txt three", contextId)).state, "completed")
    const keys = (await Effect.runPromise(store.keys)).filter((key) => key.startsWith(`${root}/log/`)).toSorted()
    equal(keys, [1, 2].map((position) => `${root}/log/${names(position)}`))
  })
  await checks.check(`${title}: loads`, async () => {
    equal(await snapshots.load(second, { objects: await objects("read"), target_context_id: "restored" }), {
      context_id: "restored"
    })
    equal((await say(second, "read a.txt", "restored")).text, "one")
  })
  await checks.check(`${title}: applies changes`, async () => {
    const increments = await Promise.all([1, 2].map(async (position) => ({
      sequence: position,
      object: wire.read(await Effect.runPromise(store.readObject(`${root}/log/${names(position)}`)))
    })))
    const applied = await snapshots.apply(second, { increments, target_context_id: "restored" })
    equal(applied.count, 2)
    equal((await say(second, "read a.txt", "restored")).text, "two")
    equal((await say(second, "read b.txt", "restored")).text, "three")
  })
}

/** The operations of an agent by our client, on the wire's JSON. */
const ours = {
  save: (url, request) => calls(url, (snapshot) => snapshot.save(decode(SnapshotV1.operations.save, request))),
  load: (url, request) => calls(url, (snapshot) => snapshot.load(decode(SnapshotV1.operations.load, request))),
  enable: (url, request) =>
    calls(
      url,
      ({ changelog }) => Option.getOrThrow(changelog).enable(decode(SnapshotV1.features.changelog.enable, request))
    ),
  apply: (url, request) =>
    calls(
      url,
      ({ changelog }) => Option.getOrThrow(changelog).apply(decode(SnapshotV1.features.changelog.apply, request))
    )
}

const decode = (operation, request) => Schema.decodeUnknownSync(operation.request)(request)

/** The same by the reference's models. */
const reference = (driver) =>
  Object.fromEntries(["save", "load", "enable", "apply"].map((step) => [step, async (url, request) => {
    const answer = await driver.ask({ step, url, request })
    if (answer.value === undefined) throw new Error(JSON.stringify(answer))
    return answer.value
  }]))

export const runSnapshots = async (context, checks) => {
  const directory = mkdtempSync(join(tmpdir(), "interop-snapshots-"))
  const scope = await Effect.runPromise(Scope.make())
  try {
    const store = await Effect.runPromise(Scope.extend(ObjectStore.make, scope))
    const authority = join(directory, "ca.pem")
    writeFileSync(authority, store.ca)
    const trust = { SSL_CERT_FILE: authority, NODE_EXTRA_CA_CERTS: authority }
    const programs = join(import.meta.dirname, "../python")
    for (const [release, version] of [["reference", "0.1.379"], ["founding", "0.1.270"]]) {
      const python = context.python(release)
      await trip(context, checks, `${version}'s models at our snapshot-agent`, {
        names: (position) => `${String(position).padStart(6, "0")}.tar`,
        root: `${release}/ours`,
        snapshots: reference(context.converse(python, [join(programs, "snapshots.py")])),
        start: () => context.example("snapshot-agent", trust),
        store
      })
      await trip(context, checks, `our client at an agent of ${version}`, {
        names: (position) => `${String(position).padStart(6, "0")}.json`,
        root: `${release}/theirs`,
        snapshots: ours,
        start: () => context.pythonAgent(release, join(programs, "keeper.py"), trust),
        store
      })
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(directory, { recursive: true, force: true })
  }
}
