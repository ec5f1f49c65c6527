/**
 * Says a pattern with fewer ways to match the same texts. Python's engine remembers where a loop was in vain, so that `^(a+)+$` takes it no
 * time; a backtracking engine must not be asked such a thing. Only for patterns in which the way something matched does not count.
 *
 * @since 0.1.0
 */
import { either } from "./sets.ts"
import { alt, type CharSet, empty, type Node, optional, type Repeat, seq } from "./tree.ts"

const keys = new WeakMap<Node, string>()

/** The same for nodes that match the same texts by the same words. */
const keyOf = (node: Node): string => {
  let key = keys.get(node)
  if (key === undefined) {
    key = makeKey(node)
    keys.set(node, key)
  }
  return key
}

const makeKey = (node: Node): string => {
  switch (node._tag) {
    case "Set":
    case "Assert":
      return `${node._tag}<${node.source}>`
    case "Seq":
      return `(${node.items.map(keyOf).join("")})`
    case "Alt":
      return `(${node.branches.map(keyOf).join("|")})`
    case "Repeat":
      return `${keyOf(node.node)}{${node.min},${node.max}}`
    case "Look":
      return `<${node.behind ? "<" : ">"}${node.negative ? "!" : "="}${keyOf(node.node)}>`
    default:
      return keyOf((node as { readonly node: Node }).node)
  }
}

const repeat = (like: Repeat, node: Node, min: number, max: number): Node =>
  min === 1 && max === 1 ? node : max === 0 ? empty : { ...like, node, min, max }

/** What a loop without end repeats, said shorter: `(?:a+b?)*` has nothing that `(?:ab?)*` has not. */
const turn = (node: Node): Node => {
  switch (node._tag) {
    case "Repeat":
      return node.min <= 1 && node.max > 0 ? turn(node.node) : node
    case "Alt":
      return alt(merge(node.branches.map(turn)))
    case "Seq": {
      const { items } = node
      const item = items.find((item) => !optional(item))
      return item?._tag === "Repeat" && item.min === 1 && (item === items[0] || item === items.at(-1)) &&
          items.every((other) => other === item || optional(other))
        ? seq(items.map((other) => other === item ? item.node : other))
        : node
    }
    default:
      return node
  }
}

/** A loop of a loop as one loop, where the counts leave no gap. */
const loop = (outer: Repeat, node: Node): Node => {
  if (node._tag === "Seq" && node.items.length === 0) return empty
  if (node._tag !== "Repeat") return repeat(outer, node, outer.min, outer.max)
  const { max, min } = node
  const like = outer.mode === "lazy" || node.mode === "lazy" ? { ...outer, mode: "lazy" as const } : outer
  if (max === Infinity && min <= 1) return repeat(like, node.node, outer.min * min, outer.max === 0 ? 0 : Infinity)
  if (max === Infinity && outer.max > 0) {
    const most = repeat(like, node.node, Math.max(outer.min, 1) * min, Infinity)
    return outer.min > 0 ? most : repeat(like, most, 0, 1)
  }
  if (min === 0 && max === 1) return repeat(like, node.node, 0, outer.max)
  if (min <= 1 && max >= 1 && outer.max === Infinity) return repeat(like, node.node, outer.min * min, Infinity)
  return repeat(outer, node, outer.min, outer.max)
}

const parts = (node: Node): readonly [node: Node, min: number, max: number] =>
  node._tag === "Repeat" ? [node.node, node.min, node.max] : [node, 1, 1]

/** Neighbours that repeat the same become one, as `x+x+` becomes `x{2,}`; those that stand for one each stay as they are. */
const neighbours = (items: ReadonlyArray<Node>): ReadonlyArray<Node> => {
  const found: Array<Node> = []
  for (const item of items) {
    const last = found.at(-1)
    if (last !== undefined && (last._tag === "Repeat" || item._tag === "Repeat")) {
      const [a, minA, maxA] = parts(last)
      const [b, minB, maxB] = parts(item)
      if (keyOf(a) === keyOf(b)) {
        const like = item._tag === "Repeat" ? item : last as Repeat
        found[found.length - 1] = repeat(like, a, minA + minB, maxA + maxB)
        continue
      }
    }
    found.push(item)
  }
  return found
}

/** Branches without doubles, and neighbours of one character each as one set. */
const merge = (branches: ReadonlyArray<Node>): ReadonlyArray<Node> => {
  const seen = new Set<string>()
  const found: Array<Node> = []
  let sets: Array<CharSet> = []
  const flush = () => {
    if (sets.length > 0) found.push(either(sets))
    sets = []
  }
  for (const branch of branches) {
    if (seen.has(keyOf(branch))) continue
    seen.add(keyOf(branch))
    if (branch._tag === "Set") sets.push(branch)
    else {
      flush()
      found.push(branch)
    }
  }
  flush()
  return found
}

/** The same texts, said with fewer ways to match them. */
export const simplify = (node: Node): Node => {
  switch (node._tag) {
    case "Seq": {
      const items = node.items.map(simplify).flatMap((item) => item._tag === "Seq" ? item.items : [item])
      return seq(neighbours(items))
    }
    case "Alt": {
      const branches = node.branches.map(simplify).flatMap((one) => one._tag === "Alt" ? one.branches : [one])
      return alt(merge(branches))
    }
    case "Repeat": {
      const inner = simplify(node.node)
      if (node.max !== Infinity || node.min > 1 || inner._tag === "Repeat") return loop(node, inner)
      return loop(optional(inner) ? { ...node, min: 0 } : node, turn(inner))
    }
    case "Group":
      return simplify(node.node)
    case "Look":
      return { ...node, node: simplify(node.node) }
    default:
      return node
  }
}
