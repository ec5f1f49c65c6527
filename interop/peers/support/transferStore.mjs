// One side's transfers through grants of our test store: what goes well, and each failure by its code and its count of requests.
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { equal, truthy } from "./checks.mjs"

const run = Effect.runPromise

const everyByte = Uint8Array.from({ length: 5000 }, (_, i) => i % 256)

const sha256 = (content) => createHash("sha256").update(content).digest("hex")

const codes = {
  grant_expired: { status: 410, retryable: false },
  transfer_too_large: { status: 413, retryable: false },
  integrity_mismatch: { status: 422, retryable: false },
  invalid_transfer: { status: 400, retryable: false },
  transfer_rejected: { status: 502, retryable: false },
  transfer_unavailable: { status: 502, retryable: true }
}

const failedWith = (answer, code) => equal(answer, { error: { code, ...codes[code] } })

export const runClient = async (context, checks, store, client, directory) => {
  const check = (name, body) => checks.check(`${client.name} at our store: ${name}`, body)
  const key = (name) => `${client.name}/${name}`
  const target = (name) => join(directory, `${client.name}-${name}`)

  /** Runs a step against the store's faults, and answers what came of it and how many requests there were. */
  const counted = async (step, ...faults) => {
    const before = (await run(store.requests)).length
    for (const fault of faults) await run(store.inject(fault))
    const answer = await step()
    return { answer, requests: (await run(store.requests)).slice(before) }
  }
  const kept = async (name) => Option.getOrThrow(await run(store.get(key(name))))
  const get = async (name, options) => client.download(await run(store.readObject(key(name), options)), target(name))
  const put = async (name, content, options) => client.upload(await run(store.writeObject(key(name), options)), content)
  const post = async (name, content, options) =>
    client.uploader(await run(store.writeNamespace(client.name, options)))(name, content)

  const succeeds = ({ answer, requests }, count) => {
    truthy(answer.error === undefined, JSON.stringify(answer))
    equal(requests.length, count)
  }
  const fails = ({ answer, requests }, code, count) => {
    failedWith(answer, code)
    equal(requests.length, count)
  }

  for (const [name, content] of [["bytes", everyByte], ["nothing", new Uint8Array(0)]]) {
    await check(`PUT of ${name}, with its length and its type`, async () => {
      const { answer, requests } = await counted(() => put(name, content, { mediaType: "application/x-parcel" }))
      equal(answer, { value: { size_bytes: content.length, sha256: sha256(content) } })
      equal([...await kept(name)], [...content])
      const [{ headers }] = requests
      equal(headers["content-length"], String(content.length))
      equal(headers["transfer-encoding"], undefined)
      equal(headers["content-type"], "application/x-parcel")
    })
  }
  await check("GET, its size and digest promised, asking for no compression", async () => {
    await run(store.put(key("got"), everyByte))
    const promise = { sizeBytes: everyByte.length, sha256: sha256(everyByte) }
    const { answer, requests } = await counted(() => get("got", promise))
    truthy(answer.error === undefined, JSON.stringify(answer))
    equal([...readFileSync(target("got"))], [...everyByte])
    equal(requests[0].headers["accept-encoding"], "identity")
  })
  await check("headers of a grant are sent, and nothing that wasn't signed", async () => {
    const headers = { "x-parcel-shelf": "b2" }
    succeeds(await counted(() => put("signed", "abc", { headers })), 1)
    succeeds(await counted(() => get("signed", { headers })), 1)
  })
  await check("a namespace: policy, key and type before the file, its length known, objects replaced", async () => {
    const upload = client.uploader(await run(store.writeNamespace(client.name, { maxObjects: 2, maxTotalBytes: 20 })))
    const { answer, requests } = await counted(() => upload("deep/one.txt", "0123456789"))
    equal(answer, { value: { size_bytes: 10, sha256: sha256("0123456789") } })
    const [{ fields, headers }] = requests
    equal(fields.at(-1), "file")
    truthy(["policy", "x-signature", "key"].every((name) => fields.includes(name)), fields.join())
    truthy(Number(headers["content-length"]) > 10, "no length")
    succeeds(await counted(() => upload("deep/one.txt", "01234")), 1)
    succeeds(await counted(() => upload("two.bin", everyByte.subarray(0, 15))), 1)
    equal(Buffer.from(await kept("deep/one.txt")).toString(), "01234")
    fails(await counted(() => upload("two.bin", "0123456789abcdef")), "transfer_too_large", 0)
    fails(await counted(() => upload("three.txt", "")), "transfer_too_large", 0)
    for (const path of ["../up", "/root", "a//b", "a/./b", "a\\b", ""]) {
      fails(await counted(() => upload(path, "x")), "invalid_transfer", 0)
    }
  })
  await check("a full object limit of a namespace and a store that refuses", async () => {
    fails(await counted(() => post("large", "0123456789", { maxObjectBytes: 9 })), "transfer_too_large", 0)
    fails(await counted(() => post("late", "abc"), "late-403"), "transfer_rejected", 1)
  })

  await run(store.put(key("held"), "0123456789"))
  const verbs = [["GET", (options) => get("held", options)], ["PUT", (options) => put("held-put", "abc", options)], [
    "POST",
    (options) => post("held-post", "abc", options)
  ]]
  for (const [verb, step] of verbs) {
    await check(`${verb}: an expired grant is not used`, async () => {
      fails(await counted(() => step({ lifetime: "-1 second" })), "grant_expired", 0)
    })
    await check(`${verb}: a refusal is final, a redirect is not followed`, async () => {
      fails(await counted(step, "early-403"), "transfer_rejected", 1)
      const redirect = { name: "redirect", location: `${store.url}/elsewhere` }
      fails(await counted(step, redirect), "transfer_rejected", 1)
    })
    await check(`${verb}: 503 with Retry-After, then another attempt`, async () => {
      succeeds(await counted(step, { name: "unavailable", retryAfter: "1" }), 2)
    })
    if (context.quick) continue
    await check(`${verb}: 408 and 429, then a third attempt`, async () => {
      succeeds(await counted(step, { name: "status", status: 408 }, { name: "status", status: 429 }), 3)
    })
    await check(`${verb}: a connection that breaks off, then another attempt`, async () => {
      succeeds(await counted(step, "reset"), 2)
    })
    await check(`${verb}: three times 503`, async () => {
      fails(await counted(step, "unavailable", "unavailable", "unavailable"), "transfer_unavailable", 3)
    })
  }
  await check("PUT: the store's own timeout, then another attempt", async () => {
    succeeds(await counted(() => put("late", "abc"), "request-timeout"), 2)
  })
  await check("PUT: too large is refused before a request", async () => {
    fails(await counted(() => put("large", "0123456789", { maxBytes: 9 })), "transfer_too_large", 0)
  })
  await check("GET: more than was granted", async () => {
    fails(await counted(() => get("held", { maxBytes: 9 })), "transfer_too_large", 1)
  })
  await check("GET: another size or digest than was promised, and the target keeps what it had", async () => {
    writeFileSync(target("held"), "before")
    fails(await counted(() => get("held", { sizeBytes: 9 })), "integrity_mismatch", 1)
    fails(await counted(() => get("held", { sha256: sha256("other") })), "integrity_mismatch", 1)
    const promise = { sizeBytes: 10, sha256: sha256("0123456789") }
    fails(await counted(() => get("held", promise), "corrupt"), "integrity_mismatch", 1)
    fails(await counted(() => get("held", promise), "wrong-length"), "integrity_mismatch", 1)
    fails(await counted(() => get("held", promise), "gzip"), "integrity_mismatch", 1)
    equal(readFileSync(target("held"), "utf8"), "before")
  })
  await check("GET: what comes compressed is kept as it came", async () => {
    succeeds(await counted(() => get("held"), "gzip"), 1)
    equal(gunzipSync(readFileSync(target("held"))).toString(), "0123456789")
  })
  await check("GET: half an object is no object: another attempt", async () => {
    succeeds(await counted(() => get("held", { sizeBytes: 10 }), "truncated"), 2)
    equal(readFileSync(target("held"), "utf8"), "0123456789")
  })
  await check("GET: an object that is not there", async () => {
    fails(await counted(() => get("nowhere")), "transfer_rejected", 1)
  })
  await check("nothing half done stays behind", async () => {
    equal(readdirSync(directory).filter((name) => name.endsWith(".part")), [])
  })
}
