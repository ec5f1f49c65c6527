/**
 * Which role may use which tool: rules as a value, and the service that holds them for a server.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Order from "effect/Order"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"

/**
 * The rules of a role, or of `*` for every role: a tool's name, or `*` for every tool, and whether it is allowed.
 *
 * @since 0.1.0
 * @category models
 */
export type RoleRules = ReadonlyMap<string, boolean>

/**
 * The rules of all roles. A call without a role has the role `default` (B-ACC-5).
 *
 * @since 0.1.0
 * @category models
 */
export type Rules = ReadonlyMap<string, RoleRules>

/**
 * The names that a change is about, which need not exist (B-ACC-2), or `*` for every tool.
 *
 * @since 0.1.0
 * @category models
 */
export type Names = ReadonlyArray<string> | "*"

/**
 * The rules that a role has itself, each list sorted (B-ACC-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface Own {
  readonly disabled: ReadonlyArray<string>
  readonly allowed: ReadonlyArray<string>
}

const all = "*"

/**
 * No rule: every tool is allowed that is not hidden by default.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: Rules = new Map()

const withRule = (rules: RoleRules | undefined, tool: string, allowed: boolean): RoleRules =>
  tool === all ? new Map([[all, allowed]]) : new Map(rules).set(tool, allowed)

const change = (rules: Rules, role: string, tool: string, allowed: boolean): Rules => {
  if (role !== all) return new Map(rules).set(role, withRule(rules.get(role), tool, allowed))
  if (tool === all) return new Map([[all, withRule(undefined, all, allowed)]])
  const changed = new Map(Array.from(rules, ([each, own]) => [each, withRule(own, tool, allowed)] as const))
  return changed.has(all) ? changed : changed.set(all, withRule(undefined, tool, allowed))
}

const changeAll = (rules: Rules, role: string, tools: Names, allowed: boolean): Rules =>
  (tools === all ? [all] : tools).reduce((before, tool) => change(before, role, tool, allowed), rules)

/**
 * Takes tools from a role, or from all with the role `*`. `*` replaces the rules that the role has; for all roles it replaces every
 * rule there is (B-ACC-6).
 *
 * @since 0.1.0
 * @category combinators
 */
export const disable = (rules: Rules, role: string, tools: Names): Rules => changeAll(rules, role, tools, false)

/**
 * Gives tools to a role, or to all with the role `*`; `*` replaces rules as in `disable`. A tool that is hidden by default has to be
 * named (B-ACC-7).
 *
 * @since 0.1.0
 * @category combinators
 */
export const enable = (rules: Rules, role: string, tools: Names): Rules => changeAll(rules, role, tools, true)

/**
 * Whether a role may use a tool: its own rules count before those of `*`, and among each the one that names the tool before the one
 * for every tool (B-ACC-6). One that is hidden by default needs a rule that names it (B-ACC-7).
 *
 * @since 0.1.0
 * @category guards
 */
export const allowed = (rules: Rules, role: string, tool: string, hiddenByDefault: boolean = false): boolean => {
  const own = rules.get(role)
  const everyone = rules.get(all)
  return hiddenByDefault
    ? own?.get(tool) ?? everyone?.get(tool) ?? false
    : own?.get(tool) ?? own?.get(all) ?? everyone?.get(tool) ?? everyone?.get(all) ?? true
}

/**
 * The rules that a role has itself.
 *
 * @since 0.1.0
 * @category combinators
 */
export const own = (rules: Rules, role: string): Own => {
  const named = (kind: boolean): ReadonlyArray<string> =>
    Arr.sort(
      Array.from(rules.get(role) ?? []).flatMap(([tool, allowed]) => allowed === kind ? [tool] : []),
      Order.string
    )
  return { disabled: named(false), allowed: named(true) }
}

/**
 * The rules of a running environment, in memory (B-ACC-9). A server of an environment with `toolAccess: true` has its own, or the
 * one that its implementation was given by `Layer.provide(ToolAccess.layer)`, so that handlers and tests can change what roles see.
 *
 * @since 0.1.0
 * @category tags
 */
export class ToolAccess extends Context.Tag("@effect-agentenv/environment/ToolAccess")<ToolAccess, {
  /** The rules at this moment. */
  readonly rules: Effect.Effect<Rules>
  /** Takes tools from a role; answers the rules that the role then has itself. */
  readonly disable: (role: string, tools: Names) => Effect.Effect<Own>
  /** Gives tools to a role; answers the rules that the role then has itself. */
  readonly enable: (role: string, tools: Names) => Effect.Effect<Own>
  /** Whether a role may use a tool. */
  readonly allowed: (role: string, tool: string, hiddenByDefault?: boolean) => Effect.Effect<boolean>
  /** Calls the listener with the rules of every change, before the change is answered, until the scope closes. */
  readonly onChange: (listener: (rules: Rules) => void) => Effect.Effect<void, never, Scope.Scope>
}>() {}

/**
 * Rules of their own, none at first.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Context.Tag.Service<ToolAccess>> = Effect.map(Ref.make(empty), (ref) => {
  const listeners = new Set<(rules: Rules) => void>()
  const update = (role: string, change: (rules: Rules) => Rules): Effect.Effect<Own> =>
    Ref.modify(ref, (before) => {
      const rules = change(before)
      for (const listener of listeners) listener(rules)
      return [own(rules, role), rules]
    })
  return {
    rules: Ref.get(ref),
    disable: (role, tools) => update(role, (rules) => disable(rules, role, tools)),
    enable: (role, tools) => update(role, (rules) => enable(rules, role, tools)),
    allowed: (role, tool, hiddenByDefault) =>
      Effect.map(Ref.get(ref), (rules) => allowed(rules, role, tool, hiddenByDefault)),
    onChange: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
  }
})

/**
 * Rules, none at first: provide it to an implementation with `Layer.provide`, and with `Layer.provideMerge` to change beside the
 * server what its roles may use. Servers that are built from one such layer have the same rules.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ToolAccess> = Layer.effect(ToolAccess, make)
