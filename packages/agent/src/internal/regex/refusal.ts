/**
 * How the translator stops: thrown inside of it, and turned into an error of the service where it is called.
 *
 * @since 0.1.0
 */

/** Why and where a pattern was refused. It is no `Error`: a stack says nothing about a pattern. */
export class Refusal {
  readonly kind: "invalid" | "unsupported"
  readonly what: string
  readonly position: number

  constructor(kind: "invalid" | "unsupported", what: string, position: number) {
    this.kind = kind
    this.what = what
    this.position = position
  }
}

/** Python refuses it as well. */
export const invalid = (what: string, position: number): Refusal => new Refusal("invalid", what, position)

/** Python knows what it means, and we cannot say it. */
export const unsupported = (what: string, position: number): Refusal => new Refusal("unsupported", what, position)
