// Random scripts for triggers: what is registered, what happens, what the state is then. One seed makes one list of scripts.

const randomness = (seed) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
    list: (least, most, make) => Array.from({ length: least + below(most - least + 1) }, (_, index) => make(index))
  }
}

const patterns = [
  "^a",
  "(?i)PARCEL",
  "\\bcaf\\w*\\b",
  "at \\d+ C",
  "(?P<x>l)(?P=x)",
  "end$",
  "[^\\W\\d]+-\\d{2,}",
  "(?s)red.*blue",
  "(?<!no )kettle",
  "^$",
  "",
  "(?i:straße|é)",
  "^\\S+(?:\\s\\S+){2,4}$",
  "colou?r|gr[ae]y",
  "\\p{Lu}{2}",
  "^(a|aa)+$",
  "(?x) l a m p  # a lamp"
]

const brokenPatterns = ["(open", "[", "*a", "a{2,1}", "(?P<1>a)", "\\", "(?P=none)"]

const messages = [
  "",
  "aardvark",
  "a parcel came",
  "the kiln is at 900 C",
  "café",
  "un caffè ll",
  "the end",
  "the end\n",
  "red\nblue",
  "no kettle",
  "kettle",
  "ab-12 KB",
  "Straße É",
  "٣ lamp \u{1F980}",
  "grey",
  "aaaa"
]

const statuses = ["fired", "armed", "gone", "F", 1, true, null, ["fired"]]

const ids = ["a", "b", "c", "dé", "__proto__", "constructor", "\u{1F980}"]

const leaf = (r) => {
  switch (r.below(6)) {
    case 0:
    case 1:
      return {
        type: "step",
        ...(r.chance(0.9) ? { turn: 1 + r.below(5) } : {}),
        ...(r.chance(0.5) ? { cmp: r.pick(["eq", "gte"]) } : {})
      }
    case 2:
      return {
        type: "env_trigger",
        env_id: r.pick(["parcels", "ledger", "__proto__"]),
        trigger_id: r.pick(["late", "lost", "toString"]),
        ...(r.chance(0.5) ? { status: r.pick(["fired", "armed", "F"]) } : {})
      }
    case 3:
      return {
        type: "conversational",
        where: {
          message: r.chance(0.5) ? { exists: r.chance(0.5) } : { equals: r.pick([...messages, 1, null, ["x"], {}]) }
        }
      }
    default:
      return { type: "conversational", where: { message: { regex: r.pick(patterns) } } }
  }
}

const condition = (r, depth) =>
  depth === 0 || r.chance(0.55)
    ? leaf(r)
    : { type: r.pick(["all", "any"]), of: r.list(1, 3, () => condition(r, depth - 1)) }

const action = (r) =>
  r.chance(0.75) ? { type: "say", text: r.pick(["now", "later", "line\nline", "é"]) } : { type: "end" }

const trigger = (r) => ({
  ...(r.chance(0.85) ? { id: r.pick(ids) } : r.chance(0.2) ? { id: null } : {}),
  when: condition(r, 3),
  actions: r.list(1, 3, () => action(r)),
  ...(r.chance(0.4) ? { once: r.chance(0.4) } : {}),
  ...(r.chance(0.1) ? { note: [1, { x: null }] } : {})
})

/** One thing that is wrong with a trigger; the wire can carry each. */
const flaws = [
  (t) => ({ ...t, id: "" }),
  (t) => ({ ...t, id: 7 }),
  (t) => ({ ...t, id: "i".repeat(129) }),
  (t) => ({ ...t, id: "\u{1F980}".repeat(128) }),
  (t) => ({ ...t, once: 1 }),
  (t) => ({ ...t, once: null }),
  (t) => ({ ...t, when: null }),
  (t) => ({ ...t, when: {} }),
  (t) => ({ ...t, when: { type: "moon" } }),
  (t) => ({ ...t, when: { type: "step", turn: 0 } }),
  (t) => ({ ...t, when: { type: "step", turn: true } }),
  (t) => ({ ...t, when: { type: "step", turn: "1" } }),
  (t) => ({ ...t, when: { type: "step", turn: 1.5 } }),
  (t) => ({ ...t, when: { type: "step", cmp: "lt" } }),
  (t) => ({ ...t, when: { type: "env_trigger", env_id: "parcels" } }),
  (t) => ({ ...t, when: { type: "env_trigger", env_id: "e".repeat(257), trigger_id: "t" } }),
  (t) => ({ ...t, when: { type: "env_trigger", env_id: "e", trigger_id: "t".repeat(129) } }),
  (t) => ({ ...t, when: { type: "env_trigger", env_id: "e", trigger_id: "t", status: "s".repeat(129) } }),
  (t) => ({ ...t, when: { type: "env_trigger", env_id: "e", trigger_id: "t", status: null } }),
  (t) => ({ ...t, when: { type: "conversational", where: {} } }),
  (t) => ({ ...t, when: { type: "conversational", where: { role: { equals: "x" } } } }),
  (t) => ({ ...t, when: { type: "conversational", where: { message: { regex: "a", exists: true } } } }),
  (t) => ({ ...t, when: { type: "conversational", where: { message: { exists: 1 } } } }),
  (t) => ({ ...t, when: { type: "conversational", where: { message: { regex: null } } } }),
  (t) => ({ ...t, when: { type: "conversational", where: { message: { regex: "a".repeat(4097) } } } }),
  (t) => ({ ...t, when: { type: "all", of: [] } }),
  (t) => ({ ...t, when: { type: "any", of: [t.when, { type: "sun" }] } }),
  (t) => ({ ...t, actions: [] }),
  (t) => ({ ...t, actions: {} }),
  (t) => ({ ...t, actions: ["end"] }),
  (t) => ({ ...t, actions: [{ type: "sing" }] }),
  (t) => ({ ...t, actions: [{ type: "say" }] }),
  (t) => ({ ...t, actions: [{ type: "say", text: "y".repeat(8193) }] }),
  (t) => ({ ...t, actions: [{ type: "say", text: "y".repeat(8192) }] }),
  (t) => ({ ...t, actions: Array.from({ length: 3 }, () => ({ type: "say", text: "é".repeat(4000) })) }),
  (t) => ({ ...t, actions: Array.from({ length: 2 }, () => ({ type: "say", text: "é".repeat(3900) })) }),
  (_, r) => r.pick([null, "x", [], 1]),
  (t, r) => ({ ...t, when: { type: "conversational", where: { message: { regex: r.pick(brokenPatterns) } } } })
]

const batch = (r) => {
  const triggers = r.list(1, 4, () => trigger(r))
  if (!r.chance(0.2)) return { triggers }
  const spoilt = r.below(triggers.length)
  return { triggers: triggers.map((each, index) => index === spoilt ? r.pick(flaws)(each, r) : each) }
}

/** Triggers of different names, with nothing wrong. */
const sound = (r) => {
  const from = r.below(ids.length)
  return {
    triggers: r.list(1, 5, (index) => ({ ...trigger(r), id: ids[(from + index) % ids.length] }))
  }
}

const registration = (r) =>
  r.chance(0.05)
    ? r.pick([{}, { triggers: [] }, { triggers: "x" }, { triggers: {} }, { triggers: null }, {
      triggers: [trigger(r)],
      note: 1
    }])
    : batch(r)

const statusMap = (r) =>
  Object.fromEntries(r.list(0, 2, () => [
    r.pick(["parcels", "ledger", "other"]),
    Object.fromEntries(r.list(0, 2, () => [r.pick(["late", "lost"]), r.pick(statuses)]))
  ]))

const wrongEvents = [
  { turn: 0 },
  { turn: -3 },
  { turn: "2" },
  { turn: " 3 " },
  { turn: "2.0" },
  { turn: "2.5" },
  { turn: "two" },
  { turn: "" },
  { turn: true },
  { turn: false },
  { turn: 2.5 },
  { turn: null },
  { turn: [1] },
  { turn: undefined },
  { context_id: "" },
  { context_id: null },
  { context_id: 1 },
  { context_id: "c".repeat(257) },
  { context_id: "\u{1F980}".repeat(256) },
  { solver_message: null },
  { solver_message: 1 },
  { env_triggers: [] },
  { env_triggers: { parcels: "fired" } },
  { env_triggers: { parcels: null } },
  { note: 1 }
]

const event = (r) => ({
  turn: 1 + r.below(6),
  ...(r.chance(0.85) ? { solver_message: r.pick(messages) } : {}),
  ...(r.chance(0.8) ? { context_id: r.pick(["x", "y", "__proto__"]) } : {}),
  ...(r.chance(0.6) ? { env_triggers: r.chance(0.1) ? null : statusMap(r) } : {}),
  ...(r.chance(0.08) ? r.pick(wrongEvents) : {})
})

/** `count` scripts of a registration, some of more, and what happens between them. */
export const random = (seed, count) => {
  const r = randomness(seed)
  return Array.from({ length: count }, () => ({
    hastily: false,
    steps: [
      ["register", r.chance(0.85) ? sound(r) : registration(r)],
      ...r.list(5, 20, () => r.chance(0.12) ? ["register", registration(r)] : ["decide", event(r)]),
      ["state", null]
    ]
  }))
}

const always = { type: "step", cmp: "gte" }
const rule = (id, when = always, more = {}) => ({ id, when, actions: [{ type: "say", text: id }], ...more })
const many = (count) => Array.from({ length: count }, (_, index) => rule(`t${index}`))
const slow = { type: "conversational", where: { message: { regex: "^(a|aa)+$" } } }
const patience = `${"a".repeat(60)}b`

/** What random scripts do not come to: limits, and the budget of patterns. */
export const special = [
  ["257 triggers in one batch", [["register", { triggers: many(257) }], ["state", null]]],
  ["a 257th trigger, and one that is there", [
    ["register", { triggers: many(256) }],
    ["register", { triggers: [rule("extra")] }],
    ["register", { triggers: [rule("t7")] }],
    ["state", null]
  ]],
  ["a 1,025th context", [
    ["register", { triggers: [rule("a")] }],
    ...Array.from({ length: 1025 }, (_, index) => ["decide", { turn: 1, context_id: `c${index}` }]),
    ["decide", { turn: 2, context_id: "c0" }],
    ["decide", { turn: 2, context_id: "c0" }],
    ["state", null]
  ]],
  ["a log that forgets", [
    ["register", { triggers: many(256).map((each) => ({ ...each, once: false })) }],
    ...Array.from({ length: 6 }, (_, index) => ["decide", { turn: 1 + index }]),
    ["state", null]
  ]],
  ["200,000 characters, and one more", [
    ["register", { triggers: [rule("end", { type: "conversational", where: { message: { regex: "x$" } } })] }],
    ["decide", { turn: 1, solver_message: `${"\u{1F980}".repeat(199_999)}x` }],
    ["decide", { turn: 2, solver_message: "y".repeat(200_001) }],
    ["state", null]
  ]],
  ["200 conditions deep", [
    ["register", {
      triggers: [rule("deep", Array.from({ length: 200 }).reduce((inner) => ({ type: "any", of: [inner] }), always))]
    }],
    ["decide", { turn: 1 }],
    ["state", null]
  ]],
  ["over the budget, then within it", [
    ["register", { triggers: [rule("step"), rule("slow", slow, { once: false })] }],
    ["decide", { turn: 1, solver_message: patience, context_id: "new" }],
    ["decide", { turn: 2, context_id: "known" }],
    ["decide", { turn: 1, solver_message: patience, context_id: "known" }],
    ["state", null],
    ["decide", { turn: 1, solver_message: "aaa", context_id: "new" }],
    ["decide", { turn: 3, solver_message: "short", context_id: "known" }],
    ["state", null]
  ], true],
  ["a slow pattern that is not come to", [
    ["register", {
      triggers: [
        rule("all", { type: "all", of: [{ type: "step", turn: 9 }, slow] }),
        rule("any", { type: "any", of: [always, slow] })
      ]
    }],
    ["decide", { turn: 1, solver_message: patience }],
    ["decide", { turn: 9, solver_message: patience }],
    ["state", null]
  ], true],
  ["a slow pattern before an answer that is known", [
    ["register", { triggers: [rule("all", { type: "all", of: [slow, { type: "step", turn: 9 }] })] }],
    ["decide", { turn: 1, solver_message: patience }],
    ["state", null]
  ], true]
].map(([name, steps, hastily = false]) => ({ name, hastily, steps }))
