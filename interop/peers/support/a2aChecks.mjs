// What a client of A2A finds at our agents, whichever it is (see a2aClients).
import { randomBytes } from "node:crypto"

const text = (...texts) => texts.map((each) => ({ text: each }))

const working = new Set(["submitted", "working"])

const everyByte = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte))

/** A picture of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGMQ0bABAADMAHm9FcOvAAAAAElFTkSuQmCC",
  "base64"
)

const base64 = (buffer) => buffer.toString("base64")

/** Files and data that have to come back as they went. */
const cases = (big) => [
  ["every byte", [{ bytes: base64(everyByte), name: "all.bin", mimeType: "application/octet-stream" }]],
  ["a picture", [{ bytes: base64(png), name: "dot.png", mimeType: "image/png" }]],
  ["no bytes", [{ bytes: "", name: "empty.bin", mimeType: "application/octet-stream" }]],
  [`${big} bytes`, [{ bytes: base64(randomBytes(big)), name: "big.bin", mimeType: "application/octet-stream" }]],
  ["a URI", [{ uri: "https://kiln.example/a%20b.png?x=1#top", name: "a b.png", mimeType: "image/png" }]],
  ["data", [{ data: { shelf: "b2", deep: { list: [1, "two", null, true, { pot: 0.5 }] }, "ключ": "\u{1f3fa}" } }]],
  ["all of them", [
    { text: "caf\u00e9\n\u{1f3fa}" },
    { bytes: base64(everyByte), name: "all.bin", mimeType: "application/octet-stream" },
    { uri: "https://kiln.example/a", mimeType: "text/plain" },
    { data: {} }
  ]]
]

const runClient = async (context, checks, client, servers) => {
  const { equal, truthy } = context
  const check = (title, run) => checks.check(`${client.label}: ${title}`, run)
  const ask = (step, message = {}) => client.ask({ step, ...message })
  let count = 0
  const message = (parts, more = {}) => ({ messageId: `m-${client.label}-${count++}`, parts, ...more })
  const send = (parts, more) => ask("send", message(parts, more))
  const stream = (parts, more) => ask("stream", message(parts, more))
  const refused = async (code, step, asked) => {
    const error = await ask(step, asked).then(
      (value) => Promise.reject(new Error(`answered ${JSON.stringify(value)}`)),
      (e) => e
    )
    truthy(code === undefined || error.code === code, `${error.message} with the code ${error.code}, not ${code}`)
    return error
  }
  const until = async (id, state) => {
    for (let tries = 0; tries < 200; tries++) {
      const task = await ask("get", { id })
      if (task.state === state) return task
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`${id} is not ${state} after 5 s`)
  }
  const connect = (url, path = ".well-known/agent-card.json") => ask("connect", { url, path })

  for (const path of [".well-known/agent.json", ".well-known/agent-card.json"]) {
    await check(`the card at /${path}`, async () => {
      const card = await connect(servers.desk, path)
      equal([card.name, card.description, card.version], ["Kestrel Desk", "Keeps a desk.", "1.0.0"])
      equal(card.url, `${servers.desk}/a2a`)
      equal(card.speaks.slice(0, 3), client.wire)
      equal([card.streaming, card.skills, card.inputModes.length], [true, ["desk"], 4])
      truthy(card.extensions.every((uri) => uri.startsWith("https://") || uri.startsWith("urn:")), card.extensions)
    })
  }
  await check("sends and waits, gets it again", async () => {
    const task = await send(text("clay"))
    equal([task.kind, task.state, task.parts], ["task", "completed", text("clay")])
    equal(await ask("get", { id: task.id }), task)
    equal((await send(text("clay"), { blocking: true })).state, "completed")
  })
  await check("sends without waiting, and polls", async () => {
    const task = await send(text("clay"), { blocking: false })
    truthy(working.has(task.state), task.state)
    equal((await until(task.id, "completed")).parts, text("clay"))
  })
  await check("streams: the task, what happens, the final event", async () => {
    const [first, ...rest] = await stream(text("make"))
    equal(first.kind, "task")
    equal(new Set(rest.map(({ id }) => id)), new Set([first.id]))
    equal(new Set(rest.map(({ contextId }) => contextId)), new Set([first.contextId]))
    const said = rest.filter(({ parts }) => parts.length > 0)
    equal(said.map(({ kind, parts }) => [kind, parts[0].text]).filter(([, words]) => words !== ""), [
      ["artifact-update", "a lid"],
      ["artifact-update", "a pot"],
      ["status-update", "made"]
    ])
    equal(said[0].name, "lid")
    equal(rest.filter(({ final }) => final).length, 1)
    equal([rest.at(-1).final, rest.at(-1).state], [true, "completed"])
    const task = await ask("get", { id: first.id })
    equal(task.artifacts.map((parts) => parts.map((part) => part.text).join("")), ["a lid", "a pot"])
  })
  await check("history: all of it, the last of it, none of it", async () => {
    const asked = await send(text("ask"))
    equal([asked.state, asked.parts], ["input-required", text("which?")])
    const { contextId, id: taskId } = asked
    const task = await send(text("the blue one"), { taskId, contextId })
    equal([task.id, task.state, task.parts], [taskId, "completed", text("the blue one")])
    const historyOf = async (history_length) => (await ask("get", { id: taskId, history_length })).history
    equal(await historyOf(undefined), [text("ask"), text("which?"), text("the blue one")])
    equal(await historyOf(0), [])
    equal(await historyOf(1), [text("the blue one")])
    equal(await historyOf(2), [text("which?"), text("the blue one")])
  })
  await check("a context: its tasks one after the other", async () => {
    const first = await send(text("one"))
    const second = await send(text("two"), { contextId: first.contextId })
    equal(second.contextId, first.contextId)
    truthy(second.id !== first.id, "the same task")
    if (client.steps.includes("list")) {
      const listed = await ask("list", { contextId: first.contextId })
      equal(listed.map(({ id }) => id), [second.id, first.id])
    }
  })
  await check("cancels while it runs", async () => {
    const task = await send(text("hang"), { blocking: false })
    const seen = await ask("resubscribe", { id: task.id, until: "hanging" })
    truthy(seen.every(({ id }) => id === task.id), "events of another task")
    const canceled = await ask("cancel", { id: task.id })
    equal([canceled.id, canceled.state], [task.id, "canceled"])
    equal((await ask("get", { id: task.id })).state, "canceled")
    equal((await send(text("next"), { contextId: task.contextId })).state, "completed")
  })
  await check("whoever follows a canceled task is told", async () => {
    const task = await send(text("hang"), { blocking: false })
    const [, ...rest] = await ask("resubscribe", { id: task.id, until: "hanging" })
    truthy(rest.every(({ final }) => !final), "already over")
    const following = await ask("resubscribe", { id: task.id, after: { step: "cancel", id: task.id } })
    const last = following.at(-1)
    equal([last.state, last.id], ["canceled", task.id])
  })
  await check("leaves a stream and follows its task to the end", async () => {
    const key = `${client.label.replaceAll(" ", "-")}-${count}`
    const seen = await stream(text(`wait ${key}`), { until: "waiting" })
    const { id } = seen[0]
    equal((await ask("get", { id })).state, "working")
    const rest = await ask("resubscribe", { id, after: { step: "send", ...message(text(`go ${key}`)) } })
    equal([rest[0].kind, rest[0].id, rest[0].state], ["task", id, "working"])
    equal([rest.at(-1).state, rest.at(-1).parts, rest.at(-1).final], ["completed", text("went on"), true])
  })
  for (const [title, parts] of cases(context.quick ? 300_000 : 3_000_000)) {
    await check(`parts come back as they went: ${title}`, async () => {
      const task = await send(parts)
      equal([task.state, task.parts], ["completed", parts])
      const events = await stream(parts)
      equal(events.at(-1).parts, parts)
    })
  }
  await check("errors: a task that nobody knows", async () => {
    await refused(-32001, "get", { id: "nope" })
    await refused(-32001, "cancel", { id: "nope" })
    await refused(-32001, "resubscribe", { id: "nope" })
    await refused(-32001, "send", message(text("clay"), { taskId: "nope" }))
    await refused(-32001, "stream", message(text("clay"), { taskId: "nope" }))
  })
  await check("errors: an empty text", async () => {
    const error = await refused(-32602, "send", message(text("")))
    truthy(error.message.includes("TextPart content cannot be empty"), error.message)
    await refused(-32602, "stream", message(text("")))
  })
  await check("errors: a task that has ended takes no message, and is not canceled", async () => {
    const { contextId, id } = await send(text("clay"))
    await refused(client.wire === "1.0" ? -32004 : -32602, "send", message(text("more"), { taskId: id, contextId }))
    await refused(-32002, "cancel", { id })
    equal((await ask("get", { id })).state, "completed")
  })
  await check("errors: a task of another context", async () => {
    const { id } = await send(text("ask"))
    await refused(-32602, "send", message(text("the blue one"), { taskId: id, contextId: "another" }))
  })
  await check("errors: no push notifications", async () => {
    const { id } = await send(text("clay"))
    const { code, named } = await refused(undefined, "push", { id })
    // 1.0 has a code for it that 0.3 lacks, and a client that has read the card does not even ask
    const known = named === "PushNotificationNotSupportedError" || code === (client.wire === "1.0" ? -32003 : -32603)
    truthy(known, `${named} with the code ${code}`)
  })
  await check("a failure says why, a crash only that it was one", async () => {
    const declared = await send(text("refuse"))
    equal(declared.state, "failed")
    equal(declared.parts.at(-1).data, {
      error_type: "agent_error",
      error_code: "kiln.no_clay",
      error_message: "stock is empty"
    })
    const crashed = await send(text("crash"))
    equal([crashed.state, crashed.parts.at(-1).data.error_type], ["failed", "infra_error"])
    truthy(!JSON.stringify(crashed).includes("kiln-private-detail"), "it tells what crashed")
    const streamed = (await stream(text("crash"))).at(-1)
    equal([streamed.state, streamed.final], ["failed", true])
  })
  const many = context.quick ? 8 : 100
  await check(`${many} at once`, async () => {
    const messages = Array.from({ length: many }, (_, index) => message(text(`p${index}`)))
    const tasks = await ask("burst", { messages })
    equal(tasks.map(({ parts }) => parts[0].text), messages.map(({ parts }) => parts[0].text))
    equal(new Set(tasks.map(({ id }) => id)).size, many)
  })
  await check("an agent that does not stream: card, send, cancel", async () => {
    equal((await connect(servers.slow)).streaming, false)
    equal((await send(text("clay"))).parts, text("ok"))
    const { id } = await send(text("hang"), { blocking: false })
    equal((await ask("cancel", { id })).state, "canceled")
  })
  await check("metadata reach the run", async () => {
    await connect(servers.echo)
    const { parts } = await send(text("clay"), { metadata: { shelf: "b2" } })
    equal([parts[0].data.seen.metadata, parts[0].data.seen.config.model], [{ shelf: "b2" }, "kestrel-1"])
  })
}

/** Every client at agents that it shares with the others. */
export const runClients = async (context, clients) => {
  const checks = context.checks()
  const [desk, slow, echo] = await Promise.all(
    ["desk-agent", "slow-agent", "echo-agent"].map((name) => context.ours(name))
  )
  for (const client of clients) {
    await runClient(context, checks, client, { desk: desk.url, slow: slow.url, echo: echo.url })
    await client.stop()
  }
  return checks.result()
}
