import type { Delta, Reason, World } from "../WorldstateDelta.ts"
import { isObject, type JsonObject } from "./json.ts"

type Container = Record<string, unknown> | Array<unknown>

const deepest = 256
const unsafe = new Set(["__proto__", "constructor", "prototype"])
const index = /^(?:0|[1-9]\d*)$/

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null

/** The value at a key; `undefined` when there is none. Nothing inherited is ever seen. */
const at = (container: Container, key: string): unknown =>
  Object.hasOwn(container, key) && (!Array.isArray(container) || index.test(key))
    ? (container as Record<string, unknown>)[key]
    : undefined

/** Why a value can't be put at a key of a container. */
const refusal = (container: Container, key: string): Reason | undefined => {
  if (!Array.isArray(container)) return undefined
  if (!index.test(key)) return "notAnObject"
  return Number(key) <= container.length ? undefined : "noSuchIndex"
}

const put = (container: Container, key: string, value: unknown): void => {
  // keys are checked: `__proto__` never gets here
  ;(container as Record<string, unknown>)[key] = value
}

/** The containers on the way to the last key, read only; shorter when the way ends. */
const walk = (domain: Container, keys: ReadonlyArray<string>): ReadonlyArray<Container> => {
  const way = [domain]
  let here: Container = domain
  for (const key of keys.slice(0, -1)) {
    const next = at(here, key)
    if (!isContainer(next)) break
    way.push(next)
    here = next
  }
  return way
}

/** @internal */
export interface Draft {
  /** Applies a delta, or says why it can't be. */
  readonly apply: (delta: Delta) => Reason | undefined
  readonly result: () => World
}

/**
 * A copy on write of a world: containers are copied when a delta changes them first, and changed in place afterwards, so that many
 * deltas at one place cost one copy.
 *
 * @internal
 */
export const draft = (world: World): Draft => {
  let root = world as Record<string, unknown>
  const ours = new WeakSet<object>()

  const keep = <C extends Container>(copy: C): C => {
    ours.add(copy)
    return copy
  }

  const writable = (container: Container): Container =>
    ours.has(container) ? container : keep(Array.isArray(container) ? container.slice() : { ...container })

  const change = (delta: Delta, keys: ReadonlyArray<string>, way: ReadonlyArray<Container>): Reason | undefined => {
    const last = keys.at(-1) ?? ""
    const end = way.at(-1) ?? root
    const complete = way.length === keys.length
    if (delta.op === "set") {
      const refused = refusal(end, complete ? last : keys[way.length - 1] ?? "")
      if (refused !== undefined) return refused
      write(delta.domain, keys, way, delta.value)
      return undefined
    }
    if (!complete) return at(end, keys[way.length - 1] ?? "") === undefined ? "missing" : "notAnObject"
    const current = at(end, last)
    if (delta.op === "inc") {
      if (Array.isArray(end) && current === undefined) return refusal(end, last) ?? "missing"
      if (current !== undefined && typeof current !== "number") return "notANumber"
      const sum = (current ?? 0) + delta.value
      if (!Number.isFinite(sum)) return "overflow"
      write(delta.domain, keys, way, sum)
      return undefined
    }
    if (current === undefined) return "missing"
    if (!Array.isArray(current)) return "notAList"
    const list = writable(current) as Array<unknown>
    list.push(delta.value)
    write(delta.domain, keys, way, list)
    return undefined
  }

  const write = (domain: string, keys: ReadonlyArray<string>, way: ReadonlyArray<Container>, value: unknown): void => {
    root = writable(root) as Record<string, unknown>
    let here: Container = root
    let name = domain
    for (const [depth, key] of keys.entries()) {
      const existing = way[depth]
      const next = existing === undefined ? keep({}) : writable(existing)
      put(here, name, next)
      here = next
      name = key
    }
    put(here, name, value)
  }

  return {
    apply: (delta) => {
      const keys = delta.path.split(".").filter((key) => key !== "")
      if (keys.length === 0) return "emptyPath"
      if (keys.length > deepest) return "tooDeep"
      if (unsafe.has(delta.domain) || keys.some((key) => unsafe.has(key))) return "unsafePath"
      const domain = at(root, delta.domain)
      if (domain === undefined) return "unknownDomain"
      return isObject(domain) || Array.isArray(domain)
        ? change(delta, keys, walk(domain as Container, keys))
        : "notAnObject"
    },
    result: () => root as JsonObject
  }
}
