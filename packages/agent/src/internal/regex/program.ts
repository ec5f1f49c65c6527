/**
 * A decision as a flat list of instructions, which a worker is sent and runs without recursion however deep its expressions are nested.
 *
 * @since 0.1.0
 */
import type { Expression } from "../../RegexEngine.ts"

/** What an instruction does with the answer at hand: sets it, searches for it, jumps if it is false or true, or gives it out. */
const operations = { set: 0, search: 1, jumpIfFalse: 2, jumpIfTrue: 3, answer: 4 } as const

/** Instructions, each with its argument, and the patterns that they search for. */
export interface Program {
  readonly instructions: ReadonlyArray<number>
  readonly patterns: ReadonlyArray<string>
}

interface Open {
  readonly of: ReadonlyArray<Expression>
  readonly jump: number
  readonly jumps: Array<number>
  next: number
}

/** The instructions that answer expressions in their order. */
export const compile = (expressions: ReadonlyArray<Expression>): Program => {
  const { answer, jumpIfFalse, jumpIfTrue, search, set } = operations
  const instructions: Array<number> = []
  const patterns = new Map<string, number>()
  const open: Array<Open> = []

  const visit = (expression: Expression): void => {
    if (typeof expression === "boolean") instructions.push(set, expression ? 1 : 0)
    else if (expression._tag === "Regex") {
      let index = patterns.get(expression.pattern)
      if (index === undefined) {
        index = patterns.size
        patterns.set(expression.pattern, index)
      }
      instructions.push(search, index)
    } else {
      const all = expression._tag === "All"
      if (expression.of.length === 0) instructions.push(set, all ? 1 : 0)
      else open.push({ of: expression.of, jump: all ? jumpIfFalse : jumpIfTrue, jumps: [], next: 0 })
    }
  }

  for (const expression of expressions) {
    visit(expression)
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (last.next === last.of.length) {
        for (const jump of last.jumps) instructions[jump] = instructions.length
        open.pop()
        continue
      }
      if (last.next > 0) {
        instructions.push(last.jump, 0)
        last.jumps.push(instructions.length - 1)
      }
      visit(last.of[last.next++]!)
    }
    instructions.push(answer, 0)
  }
  return { instructions, patterns: [...patterns.keys()] }
}

/**
 * Runs a program and says where it is in `progress`: how many answers are out, and the pattern that is searched for. Answers
 * nothing when `expired` says so before a pattern. A worker runs this from its source text: it must not refer to anything outside of it,
 * nor define functions of its own, which compilers wrap in helpers.
 */
export const run = (
  instructions: ArrayLike<number>,
  search: (pattern: number) => boolean,
  progress: { [index: number]: number },
  expired: () => boolean
): Array<boolean> | undefined => {
  const answers: Array<boolean> = []
  const known: Array<boolean | undefined> = []
  let current = false
  for (let at = 0; at < instructions.length; at += 2) {
    const argument = instructions[at + 1]!
    switch (instructions[at]) {
      case 0:
        current = argument === 1
        break
      case 1: {
        const found = known[argument]
        if (found === undefined) {
          progress[1] = argument
          if (expired()) return undefined
          current = search(argument)
          known[argument] = current
        } else current = found
        break
      }
      case 2:
        if (!current) at = argument - 2
        break
      case 3:
        if (current) at = argument - 2
        break
      default:
        answers.push(current)
        progress[0] = answers.length
    }
  }
  return answers
}
