/**
 * The numbers and names of a pattern's groups.
 *
 * @since 0.1.0
 */
import { invalid, unsupported } from "./refusal.ts"

const identifier = /^[\p{XID_Start}_]\p{XID_Continue}*$/u

/** The groups of one pattern, as far as it was read. */
export class Names {
  count = 0
  /** The numbers that more than one group has. */
  readonly shared = new Set<number>()
  private readonly numbers = new Map<string, number>()
  private readonly named = new Set<number>()
  private readonly seen = new Set<number>()
  private readonly opened: Array<number> = []

  /** Opens a group; groups of one name are one group. */
  open(name: string | undefined, position: number): number {
    let index = name === undefined ? undefined : this.numbers.get(name)
    if (index === undefined) {
      this.count++
      // a number that a name has is not given out to another
      if (name !== undefined) { while (this.named.has(this.count)) this.count++ }
      index = this.count
      if (name !== undefined) {
        this.numbers.set(name, index)
        this.named.add(index)
      }
    }
    if (this.opened.includes(index)) throw unsupported("a group inside of a group of its name", position)
    if (this.seen.has(index)) this.shared.add(index)
    this.seen.add(index)
    this.opened.push(index)
    return index
  }

  close(): void {
    this.opened.pop()
  }

  isOpen(name: string): boolean {
    const index = /^\d+$/.test(name) ? Number(name) : this.numbers.get(name)
    return index !== undefined && this.opened.includes(index)
  }

  /** The number that a reference means, known when the whole pattern was read. */
  resolve(name: string, position: number): number {
    const index = /^\d+$/.test(name) ? Number(name) : this.numbers.get(name)
    if (index === undefined) throw invalid("unknown group", position)
    if (index < 1 || index > this.count) throw invalid("invalid group reference", position)
    return index
  }
}

/** Fails unless it is the name of a group, or a number where that will do. */
export const checkName = (name: string, numeric: boolean, position: number): string => {
  if (name === "") throw invalid("missing group name", position)
  if (/^\d+$/.test(name)) {
    if (!numeric || Number(name) < 1) throw invalid("bad character in group name", position)
  } else if (/^[\p{Nd}\p{No}]+$/u.test(name)) {
    throw unsupported("a group name of digits that are not ASCII", position)
  } else if (!identifier.test(name)) {
    throw invalid("bad character in group name", position)
  }
  return name
}
