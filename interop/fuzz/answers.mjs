// What no answer may be, whatever was asked.

const parse = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const correlated = (text) => /[Cc]orrelation[ _]ID: ?[0-9a-f]{32}/.test(text)

const typed = (body) =>
  body !== undefined && (body.error?.code !== undefined || typeof body.detail === "string" || body.status === "ok")

const leak = /\n\s+at [^\n]+:\d+:\d+|node:internal|\/node_modules\/|file:\/\/\//

const settled = /^(?:TASK_STATE_)?(?:COMPLETED|FAILED|CANCELED|REJECTED|INPUT[-_]REQUIRED|AUTH[-_]REQUIRED)$/i

/** What is wrong with a stream of A2A: a run ends once, and last. */
const streamComplaint = (text, resumed) => {
  const frames = text.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"))
  const events = frames.map((frame) => parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ""))
  if (events.some((event) => event === undefined)) return "it has a frame that is not JSON"
  if (events.some(({ error }) => error !== undefined)) return undefined
  // whoever has seen all that there is of a task that waits for its caller is told nothing
  if (resumed && events.length === 0) return undefined
  const [first] = events
  const task = first?.result?.task ?? (first?.result?.kind === "task" ? first.result : undefined)
  // whoever comes after the end is told no more
  if (task !== undefined && settled.test(task.status.state)) return undefined
  const ends = events.flatMap(({ result }, index) => {
    const update = result?.statusUpdate ?? (result?.kind === "status-update" ? result : undefined)
    return update !== undefined && settled.test(update.status.state) ? [index] : []
  })
  if (ends.length !== 1) return `the run ends ${ends.length} times in it`
  return ends[0] === events.length - 1 ? undefined : "it goes on after the run's end"
}

/** What is wrong with an answer, if anything. */
export const complaint = ({ bytes, status, type }, { headers, path }, secrets) => {
  const text = bytes.toString("utf8")
  // what was staged is answered as it came
  const opaque = type.startsWith("application/octet-stream")
  if (!opaque && !Buffer.from(text).equals(bytes)) return "it is not valid UTF-8"
  if (leak.test(text)) return "it shows a stack or a path"
  for (const secret of secrets) {
    if (text.includes(secret)) return `it shows the secret ${secret}`
  }
  const body = type.startsWith("application/json") ? parse(text) : undefined
  if (type.startsWith("application/json") && bytes.length > 0 && body === undefined) {
    return "it is not the JSON that it claims to be"
  }
  if (status === 500 && !correlated(text)) return "it is a 500 without a correlation id"
  if (status > 500 && !typed(body) && !correlated(text)) return "it is a 5xx without a typed error"
  return path.startsWith("/a2a") && type.startsWith("text/event-stream")
    ? streamComplaint(text, headers["last-event-id"] !== undefined)
    : undefined
}

/** The id of the task that an answer of A2A tells of, if it does. */
export const taskIdOf = ({ bytes, type }) => {
  if (!type.startsWith("application/json") && !type.startsWith("text/event-stream")) return undefined
  return /"(?:kind":"task","id|task":\{"id|taskId)":"([^"]{1,64})"/.exec(bytes.toString("utf8"))?.[1]
}
