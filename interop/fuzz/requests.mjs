// Seeded requests made of those that a target takes, half of them mutated.

/** Numbers in [0, 1) that a seed determines. */
const randomness = (seed) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296
  }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value)

/** Requests to a target, one after another, from a seed. */
export const requests = ({ names, paths, valid }, seed) => {
  const random = randomness(seed)
  const below = (n) => Math.floor(random() * n)
  const pick = (items) => items[below(items.length)]
  const maybe = (p) => random() < p

  const deep = () => {
    let value = 1
    for (let depth = 0, end = 1 + below(600); depth < end; depth++) value = maybe(0.5) ? [value] : { a: value }
    return value
  }
  const odd = () =>
    pick([
      () => null,
      () => true,
      () => 0,
      () => -1,
      () => 1.5,
      () => 1e308,
      () => "",
      () => "kiln",
      () => "\u0000",
      () => [],
      () => ({}),
      () => "é\u{1f3fa}",
      () => "\ud800",
      () => "x".repeat(1 + below(5000)),
      () => ["a", 1],
      () => ({ a: { b: [] } }),
      () => deep(),
      () => "__proto__",
      () => "constructor",
      () => "2026-13-45T99:99:99Z",
      () => Number.MAX_SAFE_INTEGER,
      () => "../..",
      () => "https://x.example/a?b=c"
    ])()
  const mutate = (value, depth = 0) => {
    if (depth > 0 && maybe(0.25)) return odd()
    if (Array.isArray(value)) {
      const copy = [...value]
      if (maybe(0.2)) copy.push(odd())
      if (copy.length === 0) return copy
      const at = below(copy.length)
      if (maybe(0.15)) copy.splice(at, 1)
      else copy[at] = mutate(copy[at], depth + 1)
      return copy
    }
    if (!isObject(value)) return depth === 0 || maybe(0.3) ? odd() : value
    const keys = Object.keys(value)
    const copy = { ...value }
    if (maybe(0.15)) {
      // an own property, whatever it is called
      Object.defineProperty(copy, pick(names), { value: odd(), enumerable: true, writable: true, configurable: true })
    }
    if (keys.length === 0) return copy
    const key = pick(keys)
    if (maybe(0.12)) delete copy[key]
    else copy[key] = mutate(copy[key], depth + 1)
    return copy
  }
  const scramble = (text) => {
    const bytes = Buffer.from(text)
    if (bytes.length === 0) return bytes
    return pick([
      () => bytes.subarray(0, below(bytes.length)),
      () => {
        const copy = Buffer.from(bytes)
        for (let n = 1 + below(4); n > 0; n--) copy[below(copy.length)] = below(256)
        return copy
      },
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.from("[".repeat(1 + below(120_000))),
      () => Buffer.from(text.replace("\"", "\\ud83d\"")),
      () => Buffer.alloc(150_000 + below(120_000), 0x20)
    ])()
  }

  return () => {
    const request = pick(valid)()
    const headers = { ...request.headers }
    let { method, path } = request
    let body = request.body
    if (request.notification === true) delete body.id
    else if (isObject(body) && "id" in body) body.id = pick([0, 1, 7, "7", "a", below(1000)])
    let payload = request.bytes
    if (payload !== undefined) {
      if (maybe(0.3)) payload = scramble(payload.toString("latin1"))
    } else if (body !== undefined) {
      headers["content-type"] = "application/json"
      if (maybe(0.5)) { for (let n = 1 + below(3); n > 0; n--) body = mutate(body) }
      payload = Buffer.from(JSON.stringify(body) ?? "")
      if (maybe(0.08)) payload = scramble(payload.toString())
    }
    if (maybe(0.05)) method = pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
    if (maybe(0.04)) {
      path = pick([`${path}/`, `${path}?a=1`, `/${path}`, path.toUpperCase(), ...paths])
    }
    if (maybe(0.1)) {
      const [name, value] = pick([
        ["content-type", "text/plain"],
        ["content-type", "application/json; charset=utf-16"],
        ["accept", "*/*"],
        ["accept", "text/html"],
        ["mcp-session-id", "nobody"],
        ["mcp-protocol-version", "1999-01-01"],
        ["mcp-protocol-version", "2026-07-28"],
        ["mcp-method", "ping"],
        ["agentenv-role", " "],
        ["a2a-version", "1.0"],
        ["a2a-version", "0.3"],
        ["a2a-version", "7.0"],
        ["a2a-extensions", "urn:agentenv:trajectory/v1, x"],
        ["if-none-match", "*"],
        ["if-match", "\"x\""],
        ["host", "0.0.0.0"],
        ["x-forwarded-host", "evil.example"],
        ["idempotency-key", "k"],
        ["last-event-id", "9"],
        ["traceparent", "00-zz"],
        ["origin", "https://x.example"],
        ["content-encoding", "gzip"],
        ["expect", "100-continue"]
      ])
      headers[name] = value
    }
    return { method, path, headers, payload, leaves: maybe(0.02), chunked: maybe(0.1) }
  }
}
