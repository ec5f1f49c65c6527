/**
 * Writes a tree as a JavaScript pattern.
 *
 * @since 0.1.0
 */
import { type Assert, type CharSet, type Node, nullable } from "./tree.ts"

/** How single characters and conditions on positions are written. */
export interface Dialect {
  readonly set: (node: CharSet) => string
  readonly assert: (node: Assert) => string
}

/** For the flag `u`: as they are in the tree. */
export const unicode: Dialect = { set: ({ source }) => source, assert: ({ source }) => source }

const isOne = (node: Node): boolean =>
  node._tag === "Set" || node._tag === "Alt" || node._tag === "Group" || node._tag === "Ref"

const counts = (min: number, max: number): string => {
  if (min === 0 && max === 1) return "?"
  if (max === Infinity) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`
  return min === max ? `{${min}}` : `{${min},${max}}`
}

/** Writes a tree; only the groups in `groups` capture. */
export const emit = (tree: Node, groups: ReadonlySet<number>, dialect: Dialect): string => {
  let atoms = 0

  // what a look-ahead found is not looked for in another way: it is captured there and then referred to
  const atomic = (inner: string, behind: boolean): string => {
    const name = `a${++atoms}`
    return behind ? `(?:\\k<${name}>(?<=(?<${name}>${inner})))` : `(?:(?=(?<${name}>${inner}))\\k<${name}>)`
  }

  const write = (node: Node, behind: boolean): string => {
    switch (node._tag) {
      case "Set":
        return dialect.set(node)
      case "Assert":
        return dialect.assert(node)
      case "Seq":
        return node.items.map((item) => write(item, behind)).join("")
      case "Alt":
        return `(?:${node.branches.map((branch) => write(branch, behind)).join("|")})`
      case "Group":
        return groups.has(node.index)
          ? `(?<g${node.index}>${write(node.node, behind)})`
          : `(?:${write(node.node, behind)})`
      case "Ref":
        return `\\k<g${node.index}>`
      case "Look":
        return `(?${node.behind ? "<" : ""}${node.negative ? "!" : "="}${write(node.node, node.behind)})`
      case "Atomic":
        return atomic(write(node.node, behind), behind)
      case "Repeat": {
        const inner = write(node.node, behind)
        if (node.min === 0 && node.max === 1 && nullable(node.node)) {
          // JavaScript refuses to take what is optional when it is empty, and then looks for something else
          const choice = node.mode === "lazy" ? `(?:|${inner})` : `(?:${inner}|)`
          return node.mode === "possessive" ? atomic(choice, behind) : choice
        }
        const many = `${isOne(node.node) ? inner : `(?:${inner})`}${counts(node.min, node.max)}`
        return node.mode === "possessive" ? atomic(many, behind) : node.mode === "lazy" ? `${many}?` : many
      }
    }
  }

  return write(tree, false)
}
