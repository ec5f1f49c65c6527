// One side's transfers with the other's staging store: over TLS, and on the loopback interface.
import { Grant } from "@effect-agentenv/protocol"
import { Schema } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { equal, truthy } from "./checks.mjs"

const unused = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const expires_at = () => new Date(Date.now() + 300_000).toISOString()

/** Grants of a staging store at `origin`; with `loopback` they name their path there. */
const grants = (origin, loopback) => {
  const request = (path) => ({
    url: `${origin}${path}`,
    ...(loopback ? { headers: { "AgentEnv-Staging-Path": path } } : {})
  })
  const described = { media_type: "application/octet-stream", max_bytes: 1_000_000 }
  return {
    read: (path) =>
      Schema.decodeUnknownSync(Grant.ReadObject)({
        ...described,
        read: { kind: "http-get", expires_at: expires_at(), ...request(path) }
      }),
    write: (path) =>
      Schema.decodeUnknownSync(Grant.WriteObject)({
        ...described,
        write: { kind: "http-put", expires_at: expires_at(), ...request(path) }
      }),
    namespace: (path) =>
      Schema.decodeUnknownSync(Grant.WriteNamespaceGrant)({
        root_path: "run/1",
        expires_at: expires_at(),
        max_objects: 10,
        max_object_bytes: 1_000_000,
        max_total_bytes: 1_000_000,
        write: { kind: "http-post-policy", fields: {}, path_field: "key", file_field: "file", ...request(path) }
      })
  }
}

/** Names a place that nobody else knows. */
const place = () => `/ext/staging/${randomBytes(20).toString("hex")}`

const text = (response) => response.text()

/** `plain` is the staging server, `front` its origin over TLS; `limit` is what it has room for, if that is little. */
export const runStaging = async (checks, name, client, { front, limit, plain }, directory) => {
  const check = (what, body) => checks.check(`${client.name} with ${name}: ${what}`, body)
  const target = join(directory, `staged-${client.name}`)
  const done = (answer) => truthy(answer.error === undefined, JSON.stringify(answer))

  const roundTrip = async (grants, over) => {
    const base = place()
    const content = `kept by ${client.name}`
    done(await client.upload(grants.write(`${base}/deep/a%20b.bin`), content, over))
    equal(await fetch(`${plain.url}${base}/deep/a%20b.bin`).then(text), content)
    done(await client.download(grants.read(`${base}/deep/a%20b.bin`), target, over))
    equal(readFileSync(target, "utf8"), content)
    const upload = client.uploader(grants.namespace(base))
    done(await upload("one.txt", "first", over))
    done(await upload("deep/two.txt", "second", over))
    equal(await fetch(`${plain.url}${base}/run/1/deep/two.txt`).then(text), "second")
    const { objects } = await fetch(`${plain.url}${base}/`).then((response) => response.json())
    equal(objects.map(({ path, size_bytes }) => [path, size_bytes]), [
      ["deep/a b.bin", content.length],
      ["run/1/deep/two.txt", 6],
      ["run/1/one.txt", 5]
    ])
    equal((await fetch(`${plain.url}${base}/`, { method: "DELETE" })).status, 204)
  }

  await check("PUT, GET and POST over TLS", () => roundTrip(grants(front, false)))
  await check(
    "on the loopback interface, for an origin that nobody has",
    () => roundTrip(grants("https://agent.invalid", true), plain.port)
  )
  await check(
    "at the grant's own origin when nothing listens on the port",
    async () => roundTrip(grants(front, true), await unused())
  )
  await check("an object that is not there, a place that is too short", async () => {
    for (const path of [`${place()}/gone`, "/ext/staging/short/gone"]) {
      const { error } = await client.download(grants(front, false).read(path), target)
      equal(error.code, "transfer_rejected")
    }
  })
  if (limit === undefined) return
  await check("more than there is room for", async () => {
    const { error } = await client.upload(grants(front, false).write(`${place()}/large`), "x".repeat(limit + 1))
    equal(error, { code: "transfer_rejected", status: 502, retryable: false })
  })
}
