/**
 * Says what a pattern asks of the words around a position in the shortest way that what it asks of the characters there leaves.
 *
 * @since 0.1.0
 */
import { wordness } from "./characters.ts"
import { unicodeWord } from "./properties.ts"
import { alt, type Assert, empty, type Node, seq } from "./tree.ts"

type Side = "behind" | "ahead"

/** Whether the character that a node has at one of its ends is of a word; `then`: whether the one behind that end is, if it has none. */
const atEnd = (node: Node, side: Side, then: boolean | undefined): boolean | undefined => {
  switch (node._tag) {
    case "Set":
      return wordness(node.source)
    case "Seq":
      return side === "ahead"
        ? node.items.reduceRight((then, item) => atEnd(item, side, then), then)
        : node.items.reduce((then, item) => atEnd(item, side, then), then)
    case "Alt": {
      const [first, ...others] = node.branches.map((branch) => atEnd(branch, side, then))
      return others.every((other) => other === first) ? first : undefined
    }
    case "Repeat": {
      if (node.max === 0) return then
      // what may be behind the last turn is before another, too
      const found = atEnd(node.node, side, undefined)
      return node.min > 0 || found === then ? found : undefined
    }
    case "Group":
    case "Atomic":
      return atEnd(node.node, side, then)
    case "Assert":
    case "Look":
      return then
    case "Ref":
      return undefined
  }
}

const condition = (source: string): Assert => ({ _tag: "Assert", source, start: false })

const before = (word: boolean): Assert => condition(`(?<${word ? "=" : "!"}${unicodeWord})`)

const after = (word: boolean): Assert => condition(`(?${word ? "=" : "!"}${unicodeWord})`)

/** Where it is known what one side is, it is only asked what the other is: `\b` before a letter asks for no letter before. */
const reduce = (
  node: Assert,
  behind: boolean | undefined,
  ahead: boolean | undefined
): readonly [node: Assert, ofBefore: boolean] => {
  const letter = node.boundary?.word === unicodeWord ? node.boundary.letter : undefined
  if (letter === undefined) return [node, false]
  const differ = letter !== "B"
  if (ahead !== undefined && (letter === "b" || letter === "B" || (letter === "m") === ahead)) {
    return [before(differ ? !ahead : ahead), true]
  }
  if (behind !== undefined && (letter === "b" || letter === "B" || (letter === "M") === behind)) {
    return [after(differ ? !behind : behind), false]
  }
  return [node, false]
}

/**
 * A condition on what is before a node, asked behind the node's first character: V8 then looks for that character first, which is faster.
 * Nothing where a node has no single first character.
 */
const behindFirst = (asked: Assert, node: Node): Node | undefined => {
  switch (node._tag) {
    case "Set":
      return seq([node, condition(`${asked.source.slice(0, -1)}[^])`)])
    case "Repeat": {
      if (node.node._tag !== "Set" || node.min === 0 || node.mode === "possessive") return undefined
      const rest = node.max === 1 ? empty : { ...node, min: node.min - 1, max: node.max - 1 }
      return seq([behindFirst(asked, node.node)!, rest])
    }
    case "Group": {
      const inner = behindFirst(asked, node.node)
      return inner === undefined ? undefined : { ...node, node: inner }
    }
    case "Seq": {
      const [first, ...rest] = node.items
      const moved = first === undefined ? undefined : behindFirst(asked, first)
      return moved === undefined ? undefined : seq([moved, ...rest])
    }
    default:
      return undefined
  }
}

/** How many neighbours are asked what they are. */
const near = 8

const sequence = (items: ReadonlyArray<Node>): Node => {
  const found: Array<Node> = []
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    if (item._tag !== "Assert" || item.boundary === undefined) {
      found.push(item)
      continue
    }
    const behind = atEnd(seq(items.slice(Math.max(0, i - near), i)), "behind", undefined)
    const ahead = atEnd(seq(items.slice(i + 1, i + 1 + near)), "ahead", undefined)
    const [asked, ofBefore] = reduce(item, behind, ahead)
    const next = items[i + 1]
    const moved = ofBefore && next !== undefined ? behindFirst(asked, next) : undefined
    if (moved === undefined) found.push(asked)
    else {
      found.push(moved)
      i++
    }
  }
  return seq(found)
}

/** The same pattern with shorter conditions. */
export const shorten = (node: Node): Node => {
  switch (node._tag) {
    case "Seq":
      return sequence(node.items.map(shorten))
    case "Alt":
      return alt(node.branches.map(shorten))
    case "Repeat":
    case "Group":
    case "Atomic":
    case "Look":
      return { ...node, node: shorten(node.node) }
    default:
      return node
  }
}
