/**
 * How many steps a search can take at most, by the shape of its pattern.
 *
 * @since 0.1.0
 */
import { anchored, children, type Node, nullable } from "./tree.ts"

/** At the length `n` of a text: in how many ways a node can match from one place, and the steps of trying them all. */
interface Bound {
  readonly ways: number
  readonly steps: number
}

const one: Bound = { ways: 1, steps: 1 }

const none: Bound = { ways: Infinity, steps: Infinity }

const sequence = (bounds: ReadonlyArray<Bound>): Bound => {
  let ways = 1
  let steps = 1
  for (const bound of bounds) {
    steps += ways * bound.steps
    ways *= bound.ways
  }
  return { ways, steps }
}

const loop = (inner: Bound, min: number, max: number, n: number, empty: boolean): Bound => {
  // a turn that may consume nothing, or in more ways than one, is no safe thing to repeat without a small limit
  const turns = empty ? max : Math.min(max, n + 1)
  if (turns === Infinity || (inner.ways > 1 && turns > 64)) return none
  if (inner.ways <= 1) return { ways: turns - Math.min(min, turns) + 1, steps: (turns + 1) * (inner.steps + 1) }
  let ways = 1
  let steps = 1
  let all = 1
  for (let turn = 1; turn <= turns; turn++) {
    steps += ways * (inner.steps + 1)
    ways *= inner.ways
    all += ways
  }
  return { ways: all, steps }
}

const bound = (node: Node, n: number): Bound => {
  switch (node._tag) {
    case "Set":
      return one
    case "Assert":
      // the longest looks at two characters on each side, twice
      return { ways: 1, steps: 8 }
    case "Seq":
      return sequence(node.items.map((item) => bound(item, n)))
    case "Alt": {
      const all = node.branches.map((branch) => bound(branch, n))
      return {
        ways: all.reduce((sum, { ways }) => sum + ways, 0),
        steps: all.reduce((sum, { steps }) => sum + steps, 1)
      }
    }
    case "Repeat": {
      const found = loop(bound(node.node, n), node.min, node.max, n, nullable(node.node))
      return node.mode === "possessive" ? { ways: 1, steps: found.steps + n + 1 } : found
    }
    case "Group":
      return bound(node.node, n)
    case "Look":
    case "Atomic":
      // what is atomic is found first, and then gone over again
      return { ways: 1, steps: bound(node.node, n).steps + n + 1 }
    case "Ref":
      return { ways: 1, steps: n + 1 }
  }
}

/** How many nodes a pattern has where its counts are written out, as V8 compiles them. */
export const size = (node: Node): number => {
  const below = children(node).reduce((sum, child) => sum + size(child), 1)
  return node._tag === "Repeat" ? below * Math.max(1, node.min, node.max === Infinity ? 1 : node.max) : below
}

/** The most steps that a search of a text of `length` code units takes, which may be infinite. */
export const steps = (tree: Node, length: number): number => {
  const { steps } = bound(tree, length)
  // where the text does not begin, no more is looked at than what says that it must
  return anchored(tree) ? steps + length * size(tree) : steps * (length + 1)
}
