/**
 * What a pattern says, as a tree whose sets of characters are written in JavaScript already.
 *
 * @since 0.1.0
 */

/**
 * One character of a set. `source` matches exactly one character wherever it stands; `closed` tells whether it has every case variant of
 * what it has, so that the flag `i` cannot change it.
 */
export interface CharSet {
  readonly _tag: "Set"
  readonly source: string
  readonly closed: () => boolean
  /** It is what is outside of other sets. */
  readonly negated: boolean
  readonly ignoreCase: boolean
}

/** A condition on the words around a position, by the letter of its escape, and what they are made of. */
export interface Boundary {
  readonly letter: "b" | "B" | "m" | "M"
  readonly word: string
}

/** A condition on a position; `source` consumes nothing. */
export interface Assert {
  readonly _tag: "Assert"
  readonly source: string
  readonly boundary?: Boundary | undefined
  /** Whether it can only hold where a text begins. */
  readonly start: boolean
}

/** One after the other. */
export interface Seq {
  readonly _tag: "Seq"
  readonly items: ReadonlyArray<Node>
}

/** One of several. */
interface Alt {
  readonly _tag: "Alt"
  readonly branches: ReadonlyArray<Node>
}

/** As often as it says; `max` may be infinite. */
export interface Repeat {
  readonly _tag: "Repeat"
  readonly node: Node
  readonly min: number
  readonly max: number
  readonly mode: "greedy" | "lazy" | "possessive"
  readonly position: number
}

/** A capturing group. */
interface Group {
  readonly _tag: "Group"
  readonly node: Node
  readonly index: number
}

/** What is matched in one way only. */
interface Atomic {
  readonly _tag: "Atomic"
  readonly node: Node
  readonly position: number
}

/** A look at what is around. */
interface Look {
  readonly _tag: "Look"
  readonly node: Node
  readonly behind: boolean
  readonly negative: boolean
}

/** A back-reference. */
interface Ref {
  readonly _tag: "Ref"
  readonly index: number
  readonly ignoreCase: boolean
  readonly position: number
}

/** A node of a pattern. */
export type Node = CharSet | Assert | Seq | Alt | Repeat | Group | Atomic | Look | Ref

/** Matches nothing but the empty text. */
export const empty: Seq = { _tag: "Seq", items: [] }

/** A sequence, or the one that it has. */
export const seq = (items: ReadonlyArray<Node>): Node => items.length === 1 ? items[0]! : { _tag: "Seq", items }

/** Alternatives, or the one that there is. */
export const alt = (branches: ReadonlyArray<Node>): Node =>
  branches.length === 1 ? branches[0]! : { _tag: "Alt", branches }

/** The nodes right below a node. */
export const children = (node: Node): ReadonlyArray<Node> => {
  switch (node._tag) {
    case "Seq":
      return node.items
    case "Alt":
      return node.branches
    case "Repeat":
    case "Group":
    case "Atomic":
    case "Look":
      return [node.node]
    default:
      return []
  }
}

/** Whether a node can match without consuming a character. */
export const nullable = (node: Node): boolean => {
  switch (node._tag) {
    case "Set":
      return false
    case "Seq":
      return node.items.every(nullable)
    case "Alt":
      return node.branches.some(nullable)
    case "Repeat":
      return node.min === 0 || nullable(node.node)
    case "Group":
    case "Atomic":
      return nullable(node.node)
    default:
      return true
  }
}

/** Whether a node matches nothing wherever it is asked to; what is possessive matches what it can, and nothing else. */
export const optional = (node: Node): boolean => {
  switch (node._tag) {
    case "Seq":
      return node.items.every(optional)
    case "Alt":
      return node.branches.some(optional)
    case "Repeat":
      return node.mode !== "possessive" && (node.min === 0 || optional(node.node))
    default:
      return false
  }
}

/** Whether a pattern can only match where the text begins. */
export const anchored = (node: Node): boolean => {
  switch (node._tag) {
    case "Assert":
      return node.start
    case "Seq": {
      const [first] = node.items
      return first !== undefined && anchored(first)
    }
    case "Alt":
      return node.branches.every(anchored)
    case "Group":
    case "Atomic":
      return anchored(node.node)
    default:
      return false
  }
}

/** Whether a pattern looks at what is around a position. */
export const looks = (node: Node): boolean =>
  node._tag === "Assert" || node._tag === "Look" || children(node).some(looks)
