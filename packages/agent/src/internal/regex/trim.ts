/**
 * Leaves out of a pattern what only decides how long a match is, or how early it begins: it is only asked whether there is one.
 *
 * @since 0.1.0
 */
import { contains } from "./references.ts"
import { alt, empty, type Node, optional, seq } from "./tree.ts"

type End = "first" | "last"

const isEmpty = (node: Node): boolean => node._tag === "Seq" && node.items.length === 0

/**
 * A loop at an end needs no more turns than it must have: where more of them match, the last of those at the beginning do, and the first
 * of those at the end. What is optional there is not needed at all.
 */
const trimEnd = (node: Node, end: End, groups: ReadonlySet<number>): Node => {
  switch (node._tag) {
    case "Seq": {
      const items = [...node.items]
      while (items.length > 0) {
        const at = end === "first" ? 0 : items.length - 1
        const left = trimEnd(items[at]!, end, groups)
        if (!isEmpty(left)) {
          items[at] = left
          return seq(items)
        }
        items.splice(at, 1)
      }
      return empty
    }
    case "Alt":
      return optional(node) ? empty : alt(node.branches.map((branch) => trimEnd(branch, end, groups)))
    case "Repeat":
      // what is possessive, or referred to, must stay as long as it is
      if (node.mode === "possessive" || contains(node.node, groups)) return node
      if (optional(node)) return empty
      return node.min === 1 ? trimEnd(node.node, end, groups) : { ...node, max: node.min }
    case "Group":
      return groups.has(node.index) ? node : trimEnd(node.node, end, groups)
    default:
      return node
  }
}

/** A pattern that matches somewhere in the same texts; the groups in `groups` are referred to. */
export const trim = (tree: Node, groups: ReadonlySet<number>): Node =>
  trimEnd(trimEnd(tree, "first", groups), "last", groups)
