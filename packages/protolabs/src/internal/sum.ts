/** A sum whose terms can be replaced. @internal */
export interface Sum<in out A> {
  /** Puts a term, new or in place of the one with the same name, and answers the sum. */
  readonly put: (name: string, term: A) => A
}

/**
 * Keeps the sums of neighbours, of their neighbours, and so on, so that a change costs a logarithm of the number of terms, and
 * nothing is ever subtracted, which would drift.
 *
 * @internal
 */
export const make = <A>(combine: (a: A, b: A) => A): Sum<A> => {
  const places = new Map<string, number>()
  const levels: Array<Array<A>> = []
  return {
    put: (name, term) => {
      let place = places.get(name) ?? places.size
      places.set(name, place)
      let sum = term
      for (let level = 0;; level++) {
        const terms = levels[level] ??= []
        terms[place] = sum
        if (terms.length === 1) return sum
        const left = terms[place & ~1] as A
        const right = (place | 1) < terms.length ? terms[place | 1] as A : undefined
        sum = right === undefined ? left : combine(left, right)
        place >>= 1
      }
    }
  }
}
