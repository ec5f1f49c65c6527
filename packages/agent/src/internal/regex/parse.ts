/**
 * Reads Python's `regex` syntax (version 0 behaviour) into a tree. What the module refuses is `invalid` here, what it knows and the tree
 * cannot say is `unsupported`.
 *
 * @since 0.1.0
 */
import { parseEscape } from "./escapes.ts"
import { Names } from "./names.ts"
import { parseQuantifier } from "./quantifiers.ts"
import { invalid, unsupported } from "./refusal.ts"
import { anything, character, nothing, notNewline } from "./sets.ts"
import { parseSet } from "./setSyntax.ts"
import { Source } from "./source.ts"
import { assertions, expect, type Flags, parseName, reading, reference, type State } from "./state.ts"
import { alt, children, empty, type Node, type Seq } from "./tree.ts"

/** Python itself gives up where groups are nested about 300 deep; and a reader that recurses must end somewhere. */
const maxDepth = 200

const setFlags = (state: State, flags: Flags): void => {
  state.flags = flags
  state.source.ignoreBlanks = flags.verbose
}

/** Reads what is inside of a group, to its parenthesis; flags that are set in there end with it. */
const scoped = <A>(state: State, read: () => A): A => {
  const { flags } = state
  if (++state.depth > maxDepth) throw unsupported(`groups nested more than ${maxDepth} deep`, state.source.position)
  const found = read()
  expect(state, ")")
  state.depth--
  setFlags(state, flags)
  return found
}

const parsePattern = (state: State): Node => {
  const branches = [parseSequence(state)]
  while (state.source.match("|")) branches.push(parseSequence(state))
  return alt(branches)
}

const capture = (state: State, name: string | undefined, position: number): Node => {
  const index = state.names.open(name, position)
  const node = scoped(state, () => parsePattern(state))
  state.names.close()
  return { _tag: "Group", node, index }
}

const look = (state: State, behind: boolean, negative: boolean): Node => {
  const node = scoped(state, () => parsePattern(state))
  return { _tag: "Look", node, behind, negative }
}

const named = (state: State, position: number): Node => {
  const name = parseName(state, false)
  expect(state, ">")
  return capture(state, name, position)
}

const extension = (state: State, start: number): Node => {
  const { names, source } = state
  const position = source.position
  const char = source.get()
  if (char === "<") return named(state, start)
  if (char === "=") {
    const name = parseName(state, true)
    expect(state, ")")
    if (names.isOpen(name)) throw invalid("cannot refer to an open group", position)
    return reference(state, name, position)
  }
  if (char === ">" || char === "&") throw unsupported("recursion", start)
  throw invalid("unknown extension", position)
}

const comment = (state: State): undefined => {
  const { source } = state
  for (;;) {
    const position = source.position
    const char = source.get(true)
    if (char === "" || char === ")") {
      source.position = position
      return expect(state, ")") as undefined
    }
    if (char === "\\") source.get(true)
  }
}

/** Branches that number their groups alike. */
const branchReset = (state: State): Node =>
  scoped(state, () => {
    const { names, source } = state
    const before = names.count
    let most = before
    const branches: Array<Node> = []
    do {
      names.count = before
      branches.push(parseSequence(state))
      most = Math.max(most, names.count)
    } while (source.match("|"))
    names.count = most
    return alt(branches)
  })

const switches: { readonly [letter: string]: keyof Flags } = {
  i: "ignoreCase",
  m: "multiline",
  s: "dotAll",
  x: "verbose",
  a: "ascii"
}

const parseLetters = ({ source }: State): Set<string> => {
  const found = new Set<string>()
  for (;;) {
    const position = source.position
    let letter = source.get()
    if (letter === "V") letter += source.get()
    if (!/^(?:[abefiLmprsuwx]|V[01])$/.test(letter)) {
      source.position = position
      return found
    }
    found.add(letter)
  }
}

/** `(?i)` sets flags to the end of its group, `(?i:…)` for what is in it. */
const flagged = (state: State, start: number): Node | undefined => {
  const { source } = state
  const on = parseLetters(state)
  let off = new Set<string>()
  if (source.match("-")) {
    off = parseLetters(state)
    if (off.size === 0) throw invalid("bad inline flags: no flags after '-'", source.position)
  }
  for (const letter of off) {
    if (/[Vbepr]/.test(letter)) throw invalid("bad inline flags: cannot turn off global flag", source.position)
    if (on.has(letter)) throw invalid("bad inline flags: flag turned on and off", source.position)
  }
  for (const letter of [...on, ...off]) {
    if (!/^(?:[imsxau]|V0)$/.test(letter)) throw unsupported(`the flag ${letter}`, start)
  }
  const inside = source.match(":")
  if (!inside && !source.match(")")) throw invalid("unknown extension", source.position)
  // where `a` stands decides what it means for what was read before
  if (on.has("a") && (inside || start !== 0 || on.has("u"))) throw unsupported("the flag a behind the start", start)
  if (off.has("a") || (state.flags.ascii && (on.has("u") || off.has("u")))) {
    throw unsupported("flags for a part in ASCII", start)
  }
  const flags: { -readonly [name in keyof Flags]: boolean } = { ...state.flags }
  for (const letter of on) if (switches[letter] !== undefined) flags[switches[letter]] = true
  for (const letter of off) if (switches[letter] !== undefined) flags[switches[letter]] = false
  if (!inside) {
    setFlags(state, flags)
    return undefined
  }
  return {
    _tag: "Seq",
    items: [scoped(state, () => {
      setFlags(state, flags)
      return parsePattern(state)
    })]
  }
}

const question = (state: State, start: number): Node | undefined => {
  const { source } = state
  const position = source.position
  const char = source.get(true)
  switch (char) {
    case "<": {
      const behind = source.position
      const next = source.get()
      if (next === "=" || next === "!") return look(state, true, next === "!")
      source.position = behind
      return named(state, start)
    }
    case "=":
    case "!":
      return look(state, false, char === "!")
    case "P":
      return extension(state, start)
    case "#":
      return comment(state)
    case "(":
      throw unsupported("a conditional", start)
    case ">":
      return { _tag: "Atomic", node: scoped(state, () => parsePattern(state)), position: start }
    case "|":
      return branchReset(state)
    default:
      if (/^[R0-9&]$/.test(char)) throw unsupported("recursion", start)
      if ((char === "+" || char === "-") && /^\d$/.test(source.chars[source.position] ?? "")) {
        throw unsupported("recursion", start)
      }
      source.position = position
      return flagged(state, start)
  }
}

const parseParenthesis = (state: State, start: number): Node | undefined => {
  const { source } = state
  const position = source.position
  const char = source.get(true)
  if (char === "?") return question(state, start)
  if (char === "*") {
    const verb = source.getWhile((char) => char !== ")" && char !== ">")
    if (/^\p{L}/u.test(verb)) {
      if (verb !== "FAIL" && verb !== "F") {
        throw verb === "PRUNE" || verb === "SKIP"
          ? unsupported(`the verb ${verb}`, start)
          : invalid("unknown verb", start)
      }
      expect(state, ")")
      return nothing
    }
  }
  source.position = position
  return capture(state, undefined, start)
}

/** Whether Python sees that there is nothing to repeat. */
const isEmpty = (node: Node): boolean =>
  node._tag === "Group" || node._tag === "Set" || node._tag === "Assert" || node._tag === "Ref" ||
    (node._tag === "Look" && node.negative)
    ? false
    : children(node).every(isEmpty)

const quantify = (state: State, items: Array<Node | undefined>, min: number, max: number, position: number): Node => {
  const { source } = state
  const node = items.pop()
  if (node === undefined) throw invalid(items.length > 0 ? "multiple repeat" : "nothing to repeat", position)
  if (node._tag === "Repeat") throw invalid("multiple repeat", position)
  const before = source.position
  const suffix = source.get()
  if (suffix !== "?" && suffix !== "+") source.position = before
  if (isEmpty(node) || (min === 1 && max === 1)) return node
  const mode = suffix === "?" ? "lazy" : suffix === "+" ? "possessive" : "greedy"
  return { _tag: "Repeat", node, min, max, mode, position }
}

const parseAtom = (state: State, char: string, start: number): Node | undefined => {
  const { flags } = state
  switch (char) {
    case "\\":
      return parseEscape(state, start)
    case "(":
      return parseParenthesis(state, start)
    case ".":
      return flags.dotAll ? anything : notNewline
    case "[":
      return parseSet(state)
    case "^":
      return flags.multiline ? assertions.lineStart : assertions.start
    case "$":
      return flags.multiline ? assertions.lineEnd : assertions.endOrLastNewline
    default:
      return character(char.codePointAt(0)!, reading(state))
  }
}

function parseSequence(state: State): Seq {
  const { source } = state
  // an item that is missing stands where a quantifier was, which no other may follow; comments and flags leave no trace
  const items: Array<Node | undefined> = [undefined]
  for (;;) {
    const start = source.position
    const char = source.get()
    if (char === "" || char === ")" || char === "|") {
      source.position = start
      break
    }
    const counts = parseQuantifier(source, char)
    if (counts !== undefined) {
      items.push(quantify(state, items, counts.min, counts.max, start), undefined)
      continue
    }
    const node = parseAtom(state, char, source.position - 1)
    if (node !== undefined) items.push(node)
  }
  return { _tag: "Seq", items: items.filter((item) => item !== undefined) }
}

/** A pattern that was read: its tree, and which groups' numbers are taken more than once. */
export interface Parsed {
  readonly tree: Node
  readonly shared: ReadonlySet<number>
}

/** Reads a pattern; throws a `Refusal`. */
export const parse = (pattern: string): Parsed => {
  const source = new Source(pattern)
  const flags: Flags = { ignoreCase: false, multiline: false, dotAll: false, verbose: false, ascii: false }
  const state: State = { source, names: new Names(), pending: [], flags, depth: 0 }
  const tree = source.chars.length === 0 ? empty : parsePattern(state)
  if (!source.ended) throw invalid("unbalanced parenthesis", source.position)
  for (const pending of state.pending) pending.index = state.names.resolve(pending.name, pending.position)
  return { tree, shared: state.names.shared }
}
