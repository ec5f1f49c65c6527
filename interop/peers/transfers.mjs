// Objects through grants: the reference's transfer helpers of both releases, and ours beside them, at our test store; exports of an
// environment of ours through a grant; and either side's transfers with the other's staging store.
import { DataExport, EnvironmentClient } from "@effect-agentenv/client"
import { ObjectStore, TlsFront } from "@effect-agentenv/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Clients from "./support/transferClients.mjs"
import { runStaging } from "./support/transferStaging.mjs"
import { runClient } from "./support/transferStore.mjs"

export const name = "transfers"
export const order = 60
export const quick = "retries: one of each kind of request instead of four"

const room = 100_000

const exported = [
  { path: "export/state.json", mimeType: "application/json", content: "{\"parcels\":[\"lamp\",\"kettle\"]}" },
  { path: "export/shelves.json", mimeType: "application/json", content: "[\"a1\",\"b2\"]" },
  { path: "export/notes/door.txt", mimeType: "text/plain", content: "fragile, caf\u00e9\n" },
  {
    path: "export/label.bin",
    mimeType: "application/octet-stream",
    content: Uint8Array.from({ length: 256 }, (_, byte) => byte)
  }
].map(({ content, ...part }) => ({ ...part, content: Buffer.from(content).toString("base64") }))

const base64 = (path) => readFileSync(path).toString("base64")

const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1)

const runExports = async (context, checks, { directory, ours, reference, store, trust }) => {
  const environment = await context.ours("export-env", trust)
  const download = async (client, key) => {
    const target = join(directory, "exported")
    const { error } = await client.download(await Effect.runPromise(store.readObject(key)), target)
    context.truthy(error === undefined, JSON.stringify(error))
    return base64(target)
  }
  await checks.check("0.1.379 takes an export of ours through a grant", async () => {
    const { value } = await reference.exported(
      environment.url,
      await Effect.runPromise(store.writeNamespace("runs/python"))
    )
    context.equal(value, exported.map(({ mimeType, path }) => ({ path, name: nameOf(path), mimeType })))
    for (const { content, path } of exported) {
      context.equal(await download(reference, `runs/python/${path}`), content)
    }
  })
  await checks.check("our DataExport takes it too, through a grant", async () => {
    const parts = await Effect.gen(function*() {
      const client = yield* EnvironmentClient.make({ baseUrl: environment.url })
      const grant = yield* store.writeNamespace("runs/ours")
      return yield* DataExport.take(client, {
        grant,
        read: (path) => Effect.promise(async () => Buffer.from(await download(ours, `runs/ours/${path}`), "base64"))
      })
    }).pipe(Effect.provide(NodeHttpClient.layer), Effect.runPromise)
    context.equal(
      parts.map(({ file }) => ({ ...file })),
      exported.map(({ content, mimeType, path }) => ({ bytes: content, mimeType, name: nameOf(path) }))
    )
  })
}

export const run = async (context) => {
  const checks = context.checks()
  const directory = mkdtempSync(join(tmpdir(), "interop-transfers-"))
  const scope = await Effect.runPromise(Scope.make())
  const within = (effect) => Effect.runPromise(Scope.extend(effect, scope))
  let ours
  try {
    const store = await within(ObjectStore.make)
    const authority = join(directory, "ca.pem")
    writeFileSync(authority, store.ca)
    const trust = { SSL_CERT_FILE: authority, NODE_EXTRA_CA_CERTS: authority }
    ours = Clients.ours(store.ca)
    const founding = Clients.reference(context, "founding", "0.1.270", trust)
    const reference = Clients.reference(context, "reference", "0.1.379", trust)
    for (const client of [founding, reference, ours]) await runClient(context, checks, store, client, directory)

    await runExports(context, checks, { directory, ours, reference, store, trust })

    const staging = async (plain, limit) => ({ plain, limit, front: (await within(TlsFront.make(plain.port))).url })
    const own = await staging(await context.ours(`staging:${room}`), room)
    await runStaging(checks, "our staging", reference, own, directory)
    const told = Clients.reference(context, "reference", "0.1.379 by A2A_PORT", {
      ...trust,
      A2A_PORT: String(own.plain.port)
    })
    await runStaging(checks, "our staging", told, own, directory)
    const theirs = await staging(await context.theirs("reference", "plain-agent"))
    await runStaging(checks, "its staging", ours, theirs, directory)
    return checks.result()
  } finally {
    await ours?.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(directory, { recursive: true, force: true })
  }
}
