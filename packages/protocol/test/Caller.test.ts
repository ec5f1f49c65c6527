import * as Caller from "@effect-agentenv/protocol/Caller"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"

const headers = (entries: Readonly<Record<string, string>>) => (name: string): string | undefined => entries[name]

const anything = FastCheck.anything()
const word = FastCheck.string({ minLength: 1 }).map((text) => `x${text.trim()}`)
const blank = FastCheck.constantFrom("", " ", "\t\n")

describe("Caller", () => {
  it("names its header and keys (B-CTX-1)", () => {
    expect(Caller.ROLE_HEADER).toBe("AgentEnv-Role".toLowerCase())
    expect(Caller.ROLE_META_KEY).toBe("agentenv.io/role")
    expect(Caller.SESSION_META_KEY).toBe("agentenv.io/session")
    expect(Caller.DEFAULT_ROLE).toBe("default")
  })

  it("trims roles, and has none for blanks, default and what is no string (B-CTX-2)", () => {
    const cases: ReadonlyArray<readonly [unknown, string | undefined]> = [
      [" carrier ", "carrier"],
      ["", undefined],
      ["  ", undefined],
      ["default", undefined],
      [" default ", undefined],
      ["DEFAULT", "DEFAULT"],
      [1, undefined],
      [null, undefined],
      [undefined, undefined],
      [{}, undefined]
    ]
    for (const [value, role] of cases) expect(Caller.normalizeRole(value)).toBe(role)
  })

  it.prop("normalizes once and for all (B-CTX-2)", [anything], ([value]) => {
    const role = Caller.normalizeRole(value)
    return role === undefined || Caller.normalizeRole(role) === role && role === role.trim()
  })

  it.prop(
    "ignores every header once _meta has the role key, whatever its value (B-CTX-3)",
    [anything, word, word],
    ([value, role, session]) => {
      const meta = { [Caller.ROLE_META_KEY]: value }
      const header = headers({ [Caller.ROLE_HEADER]: role, [Caller.SESSION_HEADER]: session })
      expect(Caller.resolve({ meta, header })).toEqual({ role: Caller.normalizeRole(value), session: undefined })
    }
  )

  it.prop("takes role and session from headers without it (B-CTX-3)", [word, word], ([role, session]) => {
    const header = headers({ [Caller.ROLE_HEADER]: ` ${role} `, [Caller.SESSION_HEADER]: session })
    const direct = Caller.fromHeaders(header)
    expect(direct.session).toBe(session)
    expect(direct.role).toBe(Caller.normalizeRole(role))
    expect(Caller.resolve({ meta: undefined, header })).toEqual(direct)
    expect(Caller.resolve({ meta: { other: 1 }, header })).toEqual(direct)
  })

  it.prop("lets a _meta session alone override the header's (B-CTX-3)", [word, word, word], ([role, own, other]) => {
    const header = headers({ [Caller.ROLE_HEADER]: role, [Caller.SESSION_HEADER]: other })
    const meta = { [Caller.SESSION_META_KEY]: own }
    expect(Caller.resolve({ meta, header })).toEqual({ role: Caller.normalizeRole(role), session: own })
  })

  it.prop(
    "ignores a session that is blank or no string (B-CTX-3)",
    [FastCheck.oneof(blank, FastCheck.integer(), FastCheck.constant(null)), word],
    ([value, session]) => {
      const meta = { [Caller.SESSION_META_KEY]: value }
      const header = headers({ [Caller.SESSION_HEADER]: session })
      expect(Caller.resolve({ meta, header }).session).toBe(session)
      expect(Caller.resolve({ meta: { ...meta, [Caller.ROLE_META_KEY]: "a" }, header }).session).toBeUndefined()
    }
  )

  it("knows nobody without headers and _meta", () => {
    expect(Caller.resolve({ meta: undefined, header: () => undefined })).toEqual(Caller.anonymous)
  })

  it("is not fooled by inherited keys", () => {
    const meta = Object.create({ [Caller.ROLE_META_KEY]: "clerk" }) as Record<string, unknown>
    const header = headers({ [Caller.ROLE_HEADER]: "carrier" })
    expect(Caller.resolve({ meta, header }).role).toBe("carrier")
  })
})
