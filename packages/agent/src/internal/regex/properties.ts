/**
 * The Unicode properties of Python's `regex` that JavaScript has too, by their names without case, blanks, `_` and `-`.
 *
 * @since 0.1.0
 */

const bare = (name: string): string => name.replaceAll(/[_\- ]/g, "").toUpperCase()

/** Names by themselves, and by their aliases. */
const listed = (names: string): Map<string, string> =>
  new Map(names.split(" ").map((all) => all.split("/")).flatMap((all) => all.map((name) => [bare(name), all[0]!])))

/** General categories, which both languages have by the same names. */
const categories = listed(
  "C/Other Cc/Control/cntrl Cf/Format Cn/Unassigned Co/Private_Use Cs/Surrogate L/Letter LC/Cased_Letter Ll/Lowercase_Letter " +
    "Lm/Modifier_Letter Lo/Other_Letter Lt/Titlecase_Letter Lu/Uppercase_Letter M/Mark/Combining_Mark Mc/Spacing_Mark " +
    "Me/Enclosing_Mark Mn/Nonspacing_Mark N/Number Nd/Decimal_Number/digit Nl/Letter_Number No/Other_Number " +
    "P/Punctuation/punct Pc/Connector_Punctuation Pd/Dash_Punctuation Pe/Close_Punctuation Pf/Final_Punctuation " +
    "Pi/Initial_Punctuation Po/Other_Punctuation Ps/Open_Punctuation S/Symbol Sc/Currency_Symbol Sk/Modifier_Symbol " +
    "Sm/Math_Symbol So/Other_Symbol Z/Separator Zl/Line_Separator Zp/Paragraph_Separator Zs/Space_Separator"
)

const binaries = listed(
  "ASCII_Hex_Digit/AHex Alphabetic/Alpha Any Bidi_Control/Bidi_C Bidi_Mirrored/Bidi_M Case_Ignorable/CI Cased " +
    "Changes_When_Casefolded/CWCF Changes_When_Casemapped/CWCM Changes_When_Lowercased/CWL Changes_When_Titlecased/CWT " +
    "Changes_When_Uppercased/CWU Dash Default_Ignorable_Code_Point/DI Deprecated/Dep Diacritic/Dia Emoji Emoji_Component/EComp " +
    "Emoji_Modifier/EMod Emoji_Modifier_Base/EBase Emoji_Presentation/EPres Extended_Pictographic/ExtPict Extender/Ext " +
    "Grapheme_Base/Gr_Base Grapheme_Extend/Gr_Ext Hex_Digit/Hex ID_Continue ID_Start/IDS Ideographic/Ideo Join_Control/Join_C " +
    "Lowercase/Lower Math Noncharacter_Code_Point/NChar Pattern_Syntax/Pat_Syn Pattern_White_Space/Pat_WS " +
    "Quotation_Mark/QMark Radical Regional_Indicator/RI Sentence_Terminal/STerm Soft_Dotted/SD Terminal_Punctuation/Term " +
    "Unified_Ideograph/UIdeo Uppercase/Upper Variation_Selector White_Space/space/WSpace XID_Continue/XIDC XID_Start/XIDS"
)

const graph = "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"

const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}"

/** The characters of words, as JavaScript classes. */
export const unicodeWord = `[${word}]`
export const asciiWord = "[0-9A-Za-z_]"

/** Properties of Python's own, as insides of JavaScript classes. */
const own = new Map([
  ["WORD", word],
  ["ALNUM", "\\p{Alphabetic}\\p{Nd}"],
  ["ALPHANUMERIC", "\\p{Alphabetic}\\p{Nd}"],
  ["BLANK", "\\p{Zs}\\t"],
  ["ASCII", "\\0-\\x7f"],
  ["BASICLATIN", "\\0-\\x7f"],
  ["XDIGIT", "\\p{Nd}\\p{Hex_Digit}"],
  ["GRAPH", graph],
  ["PRINT", `${graph}\\p{Zs}`],
  ["POSIXALNUM", "\\p{Alphabetic}0-9"],
  ["POSIXDIGIT", "0-9"],
  ["POSIXXDIGIT", "0-9A-Fa-f"]
])

/** Punctuation, and the symbols that are no letters in disguise. It is beyond a union of properties, and below 20000. */
const posixPunctuation = (): string => {
  const has = /(?!\p{Alphabetic})[\p{P}\p{S}]/u
  let found = ""
  let first = -1
  for (let code = 0; code <= 0x20000; code++) {
    const inside = has.test(String.fromCodePoint(code))
    if (inside && first < 0) first = code
    if (!inside && first >= 0) {
      found += `\\u{${first.toString(16)}}-\\u{${(code - 1).toString(16)}}`
      first = -1
    }
  }
  return found
}

let punctuation: string | undefined

const valid = (inner: string): boolean => {
  try {
    return new RegExp(`[${inner}]`, "u").unicode
  } catch {
    return false
  }
}

/** Scripts go by their four letters or by a name of one word, which JavaScript writes with a capital. */
const script = (name: string): string | undefined => {
  if (!/^[A-Z]{2,}$/.test(name)) return undefined
  const inner = `\\p{Script=${name[0]}${name.slice(1).toLowerCase()}}`
  return valid(inner) ? inner : undefined
}

/** A property, as the inside of a JavaScript class; `ofCase` says that it tells upper from lower case. */
export interface Property {
  readonly inner: string
  readonly ofCase: boolean
}

const plain = (inner: string): Property => ({ inner, ofCase: false })

const javascript = (name: string): Property => ({
  inner: `\\p{${name}}`,
  ofCase: /^(?:L[ult]|(?:Lower|Upper|Title)case_Letter|(?:Low|Upp)er(?:case)?)$/.test(name)
})

const find = (qualifier: string | undefined, name: string): Property | undefined => {
  if (qualifier === undefined || qualifier === "GC" || qualifier === "GENERALCATEGORY") {
    const general = categories.get(name)
    if (general !== undefined) return javascript(general)
  }
  if (qualifier === undefined || qualifier === "SC" || qualifier === "SCRIPT") {
    const known = script(name)
    if (known !== undefined) return plain(known)
  }
  if (qualifier !== undefined) return undefined
  if (name === "POSIXPUNCT") return plain(punctuation ??= posixPunctuation())
  const inner = own.get(name)
  if (inner !== undefined) return plain(inner)
  const binary = binaries.get(name)
  return binary === undefined ? undefined : javascript(binary)
}

/** The property of that name, if it is one that means the same in both languages. `posix`: it stands in `[: :]`. */
export const lookUp = (qualifier: string | undefined, value: string, posix: boolean): Property | undefined => {
  const name = bare(value)
  const asPosix = posix && qualifier === undefined && /^(?:ALNUM|DIGIT|PUNCT|XDIGIT)$/.test(name)
  return find(qualifier === undefined ? undefined : bare(qualifier), asPosix ? `POSIX${name}` : name)
}

/** What `\d`, `\h`, `\s` and `\w` are, by their letter. */
export const escapes: ReadonlyMap<string, Property> = new Map([
  ["d", plain("\\p{Nd}")],
  ["h", plain("\\p{Zs}\\t")],
  ["s", plain("\\p{White_Space}")],
  ["w", plain(word)]
])
