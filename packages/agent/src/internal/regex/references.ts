/**
 * Which back-references mean in JavaScript what they mean in Python, and which loops end alike.
 *
 * JavaScript matches nothing where a group has no text, and forgets the groups in a loop at each of its turns; Python fails, and remembers.
 * They agree where a group surely has its text from the same turn. Both languages also end loops of nothing differently, which shows where
 * the way something matched is kept: in captures, and in what is atomic.
 *
 * @since 0.1.0
 */
import type { Parsed } from "./parse.ts"
import { unsupported } from "./refusal.ts"
import { children, type Node, nullable } from "./tree.ts"

/** The groups that are referred to. */
export const referenced = (node: Node, found: Set<number> = new Set()): Set<number> => {
  if (node._tag === "Ref") found.add(node.index)
  for (const child of children(node)) referenced(child, found)
  return found
}

/** Whether the way in which a pattern matches decides whether it does. */
export const ordered = (node: Node): boolean =>
  node._tag === "Ref" || node._tag === "Atomic" || (node._tag === "Repeat" && node.mode === "possessive") ||
  children(node).some(ordered)

/** Whether one of those groups is in there. */
export const contains = (node: Node, wanted: ReadonlySet<number>): boolean =>
  (node._tag === "Group" && wanted.has(node.index)) || children(node).some((child) => contains(child, wanted))

const checkLoops = (node: Node, groups: ReadonlySet<number>, atomic: boolean): void => {
  const inside = atomic || node._tag === "Atomic" || (node._tag === "Repeat" && node.mode === "possessive")
  if (node._tag === "Repeat" && node.max > 1 && nullable(node.node) && (inside || contains(node.node, groups))) {
    throw unsupported(
      inside ? "an atomic loop of what may be empty" : "a reference into a loop of what may be empty",
      node.position
    )
  }
  for (const child of children(node)) checkLoops(child, groups, inside)
}

type Known = ReadonlySet<number>

const both = (a: Known, b: Known): Known => new Set([...a].filter((index) => b.has(index)))

/** The groups that surely have a text behind a node, given those before it; `behind`: it is read from its end. */
const flow = (node: Node, before: Known, behind: boolean): Known => {
  switch (node._tag) {
    case "Ref":
      if (!before.has(node.index)) throw unsupported("a reference to a group that may have no text", node.position)
      return before
    case "Group":
      return new Set([...flow(node.node, before, behind), node.index])
    case "Seq": {
      const then = (known: Known, item: Node) => flow(item, known, behind)
      return behind ? node.items.reduceRight(then, before) : node.items.reduce(then, before)
    }
    case "Alt":
      return node.branches.map((branch) => flow(branch, before, behind)).reduce(both)
    case "Repeat": {
      // what a turn finds is forgotten at the next
      const within = forgetting(node.node, before)
      const after = flow(node.node, node.max > 1 ? within : before, behind)
      return node.min === 0 ? both(before, node.max > 1 ? within : after) : after
    }
    case "Atomic":
      return flow(node.node, before, behind)
    case "Look": {
      const after = flow(node.node, before, node.behind)
      return node.negative ? before : after
    }
    default:
      return before
  }
}

const forgetting = (node: Node, known: Known): Known => {
  const own = new Set(known)
  const drop = (node: Node): void => {
    if (node._tag === "Group") own.delete(node.index)
    children(node).forEach(drop)
  }
  drop(node)
  return own
}

const some = (node: Node, holds: (node: Node) => boolean): boolean =>
  holds(node) || children(node).some((child) => some(child, holds))

const firstRef = (node: Node): number =>
  node._tag === "Ref" ? node.position : Math.min(Infinity, ...children(node).map(firstRef))

/** Throws a `Refusal` for what would mean something else; answers whether the whole must ignore case. */
export const check = ({ shared, tree }: Parsed, groups: ReadonlySet<number>): boolean => {
  if (groups.size > 0) {
    const twice = [...groups].find((index) => shared.has(index))
    if (twice !== undefined) throw unsupported("a reference to one of several groups", firstRef(tree))
    flow(tree, new Set(), false)
  }
  checkLoops(tree, groups, false)
  const ignoresCase = some(tree, (node) => (node._tag === "Set" || node._tag === "Ref") && node.ignoreCase)
  // Python looks for where a match may begin with all that it may begin with, and ignores case for all of it if it does for some
  if (ignoresCase && some(tree, (node) => node._tag === "Set" && node.negated && !node.closed())) {
    throw unsupported("a negated set of letters with case where case is ignored in a part", 0)
  }
  const byReference = some(tree, (node) => node._tag === "Ref" && node.ignoreCase)
  if (
    byReference &&
    some(tree, (node) => (node._tag === "Set" && !node.closed()) || (node._tag === "Ref" && !node.ignoreCase))
  ) {
    throw unsupported("a reference that ignores case in a pattern that does not everywhere", firstRef(tree))
  }
  return byReference
}
