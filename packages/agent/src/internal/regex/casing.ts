/**
 * Which characters are one another's case variants, as Python's `regex` sees them: Unicode's simple folding, with the Turkic letters as
 * variants of both `i` and `I`.
 *
 * @since 0.1.0
 */

/** Where letters with case are, with room for those that Unicode will add. */
const blocks: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x41, 0x24ff],
  [0x2c00, 0x2dff],
  [0xa640, 0xabff],
  [0xfb00, 0xff5f],
  [0x10400, 0x10fff],
  [0x11800, 0x118ff],
  [0x16e00, 0x16fff],
  [0x1e900, 0x1e9ff]
]

/** Pairs that fold to each other though neither is the other's simple upper or lower case. */
const pairs = [[0x390, 0x1fd3], [0x3b0, 0x1fe3], [0xfb05, 0xfb06]] as const

/** `ı` is a variant of `I` and `İ` one of `i`, but these two are no variants of each other. */
const turkic = [
  [0x49, [0x49, 0x69, 0x131]],
  [0x69, [0x49, 0x69, 0x130]],
  [0x130, [0x69, 0x130]],
  [0x131, [0x49, 0x131]]
] as const

const single = (text: string, otherwise: number): number => {
  const code = text.codePointAt(0)!
  return text.length === (code > 0xffff ? 2 : 1) ? code : otherwise
}

const build = (): Map<number, ReadonlyArray<number>> => {
  const found = new Map<number, ReadonlyArray<number>>()
  const join = (a: number, b: number) => {
    const one = found.get(a) ?? [a]
    if (one.includes(b)) return
    const all = [...one, ...(found.get(b) ?? [b])]
    for (const code of all) found.set(code, all)
  }
  for (const [first, last] of blocks) {
    for (let code = first; code <= last; code++) {
      if (code === 0x130 || code === 0x131 || (code >= 0xd800 && code <= 0xdfff)) continue
      const text = String.fromCodePoint(code)
      join(code, single(text.toLowerCase(), code))
      join(code, single(text.toUpperCase(), code))
    }
  }
  for (const [a, b] of pairs) join(a, b)
  for (const [code, all] of turkic) found.set(code, all)
  return found
}

let table: Map<number, ReadonlyArray<number>> | undefined

/** Every character that has variants, with them and itself. */
const cased = (): ReadonlyMap<number, ReadonlyArray<number>> => table ??= build()

/** The variants of ASCII letters among themselves. */
const asciiCased: ReadonlyMap<number, ReadonlyArray<number>> = new Map(
  Array.from({ length: 26 }, (_, i) => [0x41 + i, 0x61 + i]).flatMap((both) =>
    both.map((code) => [code, both] as const)
  )
)

const lacking = (has: (code: number) => boolean, ascii: boolean): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (const [code, variants] of ascii ? asciiCased : cased()) {
    if (!has(code) && variants.some(has)) found.push(code)
  }
  return found
}

/** What a range lacks of the variants of what it has. With `ascii` only ASCII letters have variants. */
export const missingFromRange = (first: number, last: number, ascii: boolean): ReadonlyArray<number> => {
  if (first !== last) return lacking((code) => first <= code && code <= last, ascii)
  // the table is not built for a pattern of few letters
  const variants = ascii || (first < 0x80 && !/[iks]/i.test(String.fromCharCode(first))) ? asciiCased : cased()
  return variants.get(first)?.filter((code) => code !== first) ?? []
}

const ofProperties = new Map<string, ReadonlyArray<number>>()

/** What a property lacks of the variants of what it has. `inner` is the inside of a JavaScript class. */
export const missingFromProperty = (inner: string, ascii: boolean): ReadonlyArray<number> => {
  const key = `${ascii}${inner}`
  let found = ofProperties.get(key)
  if (found === undefined) {
    const set = new RegExp(`[${inner}]`, "u")
    found = lacking((code) => set.test(String.fromCodePoint(code)), ascii)
    ofProperties.set(key, found)
  }
  return found
}
