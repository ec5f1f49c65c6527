import type { Malformed, Present } from "../Read.ts"
import { type Holder, holders } from "./holders.ts"
import { sameJson } from "./json.ts"

/** A value met in a stream of events. @internal */
export interface Sighting<A> {
  readonly read: Malformed | Present<A>
  /** A later sighting with the same slot takes this one's place; without a slot nothing does. */
  readonly slot: string | undefined
}

type Read<A> = Malformed | Present<A>

const payload = <A>(read: Read<A>): unknown => read._tag === "Present" ? read.value : read.path

const same = <A>(a: Read<A>, b: Read<A> | undefined): boolean =>
  b !== undefined && a._tag === b._tag && sameJson(payload(a), payload(b))

/** What a holder says, without what is said as well in what it stands around. @internal */
export const unrepeated = <A>(
  { around }: Holder,
  reads: ReadonlyArray<Read<A>>,
  readHolder: (holder: Holder) => Iterable<Read<A>>
): ReadonlyArray<Read<A>> => {
  if (reads.length === 0 || around.length === 0) return reads
  const said = around.flatMap((holder) => [...readHolder(holder)])
  return reads.filter((read) => !said.some((each) => same(read, each)))
}

/**
 * Answers what each event says that earlier events didn't. A message counts once; an artifact in a task's snapshot counts when it
 * isn't what updates have said already; an appending update adds parts and replaces metadata, another one replaces both.
 *
 * @internal
 */
export const sightings = <A>(
  readHolder: (holder: Holder) => Iterable<Read<A>>
): (event: unknown) => ReadonlyArray<Sighting<A>> => {
  const known = new Map<string, Array<Read<A>>>()

  const slot = (key: string, read: Read<A>, index: number) =>
    read._tag === "Present" && read.carrier === "metadata" ? `${key}/metadata` : `${key}/${index}`

  const ofHolder = (holder: Holder): ReadonlyArray<Sighting<A>> => {
    const { key, kind } = holder
    const reads = [...readHolder(holder)]
    const fresh = unrepeated(holder, reads, readHolder)
    if (key === undefined || reads.length === 0) return fresh.map((read) => ({ read, slot: undefined }))
    const before = known.get(key)
    if (kind === "append") {
      const all = before ?? []
      const base = all.length
      all.push(...reads)
      known.set(key, all)
      return reads.map((read, index) => ({ read, slot: slot(key, read, base + index) }))
    }
    known.set(key, reads)
    if (kind === "event") return fresh.map((read) => ({ read, slot: undefined }))
    if (kind === "once" && before !== undefined) return []
    const last = before?.at(-1)
    return reads.flatMap((read, index) =>
      kind === "state" && (same(read, before?.[index]) || same(read, last) || !fresh.includes(read))
        ? []
        : [{ read, slot: slot(key, read, index) }]
    )
  }

  return (event) => holders(event, true).flatMap(ofHolder)
}
