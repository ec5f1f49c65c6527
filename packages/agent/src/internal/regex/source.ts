/**
 * Reads a pattern character by character, as Python's `regex` does: where blanks are ignored (`(?x)`), comments are too.
 *
 * @since 0.1.0
 */

const blank = /\p{White_Space}/u

/** Python's `isspace`, for which the separators of ASCII are blank too. */
const isBlank = (char: string): boolean => blank.test(char) || (char >= "\u001c" && char <= "\u001f")

/** What is read of a pattern. An empty string stands for its end. */
export class Source {
  readonly chars: ReadonlyArray<string>
  position = 0
  ignoreBlanks = false

  constructor(pattern: string) {
    this.chars = Array.from(pattern)
  }

  /** Where the next character is. */
  private ahead(from: number): number {
    let at = from
    if (!this.ignoreBlanks) return at
    for (;;) {
      const char = this.chars[at]
      if (char === undefined) return at
      if (char === "#") {
        while (at < this.chars.length && this.chars[at] !== "\n") at++
      } else if (isBlank(char)) at++
      else return at
    }
  }

  /** The next character, of which blanks are one if `all`. */
  get(all = false): string {
    const at = all ? this.position : this.ahead(this.position)
    const char = this.chars[at] ?? ""
    this.position = char === "" ? at : at + 1
    return char
  }

  /** Passes the text, if it comes next. */
  match(text: string): boolean {
    let at = this.position
    for (const wanted of text) {
      at = this.ahead(at)
      if (this.chars[at] !== wanted) return false
      at++
    }
    this.position = at
    return true
  }

  /** The characters that come next and pass. */
  getWhile(passes: (char: string) => boolean): string {
    let found = ""
    let at = this.ahead(this.position)
    while (at < this.chars.length && passes(this.chars[at]!)) {
      found += this.chars[at]
      at = this.ahead(at + 1)
    }
    this.position = at
    return found
  }

  /** Whether nothing is left. */
  get ended(): boolean {
    return this.ahead(this.position) >= this.chars.length
  }
}
