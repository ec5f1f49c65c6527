import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Multipasta from "multipasta"
import type * as Staging from "../Staging.ts"
import { StagingError } from "../StagingError.ts"

const maxFields = 32
const maxFieldSize = 64 * 1024

const invalid = (detail: string): StagingError => new StagingError({ reason: "InvalidForm", detail })

const malformed = invalid("The body is not a well-formed multipart form")

const toFailure = (error: Multipasta.MultipartError): StagingError => {
  switch (error._tag) {
    case "InvalidDisposition":
      return unnamed
    case "ReachedLimit":
      return invalid("A field of the form is longer than 64 KiB")
    case "BadHeaders":
      return invalid("The headers of a part are malformed or longer than 16 KiB")
    case "EndNotReached":
    case "InvalidBoundary":
      return malformed
  }
}

const unnamed = invalid("A field of the form has no name")

const mediaType = /^\s*multipart\/form-data\s*(?:;|$)/i
// the characters of RFC 2046, which need no escapes within quotes
const boundaryOf = /;\s*boundary=(?:"([\w'()+,\-./:=? ]{1,69}[\w'()+,\-./:=?])"|([\w'()+,\-./:=?]{1,70}))\s*(?:;|$)/i

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** What has been seen of a form, fed piece by piece. */
class FormParser {
  private readonly parser: Multipasta.Parser
  private readonly delimiter: Buffer
  // the last bytes that the parser was given, at first the line break that its first delimiter lacks
  private tail: Uint8Array = Buffer.from("\r\n")
  private held: Uint8Array | undefined = undefined
  private begun = false
  private fields = 0
  key: string | undefined = undefined
  file: "before" | "within" | "after" = "before"
  content: Array<Uint8Array> = []
  failure: StagingError | undefined = undefined

  constructor(boundary: string) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`)
    this.parser = Multipasta.make({
      headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
      isFile: (info) => info.name === "file",
      maxFieldSize,
      onField: (info, value) => this.onField(info.name, value),
      onFile: () => this.onFile(),
      onError: (error) => this.fail(toFailure(error)),
      onDone: () => {
        if (this.file === "before") this.fail(invalid("The form has no field 'file'"))
      }
    })
  }

  write(chunk: Uint8Array): void {
    const bytes = this.held === undefined ? chunk : Buffer.concat([this.held, chunk])
    this.held = undefined
    if (!this.begun && !this.begin(bytes)) return
    // The parser takes a single byte after a delimiter for all that follows it.
    const seen = Buffer.concat([this.tail, bytes.subarray(-this.delimiter.length - 1)])
    if (seen.subarray(-this.delimiter.length - 1, -1).equals(this.delimiter)) {
      this.held = bytes.subarray(-1)
      this.feed(bytes.subarray(0, -1))
    } else {
      this.feed(bytes)
    }
  }

  end(): void {
    if (this.held !== undefined || !this.begun) return this.fail(malformed)
    this.guarded(() => this.parser.end())
    if (this.file !== "after") this.fail(malformed)
  }

  // A form begins with its first delimiter: what might stand before it is of no use and has no end.
  private begin(bytes: Uint8Array): boolean {
    const first = this.delimiter.subarray(2)
    const given = bytes.subarray(0, first.length)
    if (!first.subarray(0, given.length).equals(given)) {
      this.fail(malformed)
    } else if (given.length < first.length) {
      this.held = bytes
    } else {
      this.begun = true
    }
    return this.begun
  }

  private feed(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.tail = Buffer.concat([this.tail, bytes.subarray(-this.delimiter.length)]).subarray(-this.delimiter.length)
    this.guarded(() => this.parser.write(bytes))
  }

  // A file name that is not well encoded is thrown.
  private guarded(run: () => void): void {
    try {
      run()
    } catch {
      this.fail(malformed)
    }
  }

  private onField(name: string, value: Uint8Array): void {
    if (this.file !== "before") return
    if (++this.fields > maxFields) return this.fail(invalid(`The form has more than ${maxFields} fields`))
    if (name === "") return this.fail(unnamed)
    if (name !== "key") return
    try {
      this.key = utf8.decode(value)
    } catch {
      this.fail(invalid("The field 'key' is not UTF-8"))
    }
  }

  private onFile(): (chunk: Uint8Array | null) => void {
    if (this.file !== "before") return () => {}
    if (this.key === undefined) this.fail(invalid("The field 'key' must come before the file"))
    this.file = "within"
    return (chunk) => {
      if (chunk === null) this.file = "after"
      else this.content.push(chunk)
    }
  }

  private fail(error: StagingError): void {
    // What follows the file is nobody's concern.
    if (this.file !== "after") this.failure ??= error
  }
}

/** A form whose fields before the file have been read. */
interface Parsed<E> {
  readonly key: string
  readonly file: Stream.Stream<Uint8Array, E | StagingError>
}

/** Reads a form up to its file, whose content streams from there on. The file's stream ends with the whole body. */
export const parse = <E, R>(
  form: Staging.Form<E, R>
): Effect.Effect<Parsed<E>, E | StagingError, R | Scope.Scope> =>
  Effect.gen(function*() {
    if (!mediaType.test(form.contentType ?? "")) return yield* invalid("The body must be multipart/form-data")
    const match = boundaryOf.exec(form.contentType ?? "")
    if (match === null) return yield* invalid("The Content-Type of the form has no usable boundary")
    const parser = new FormParser(match[1] ?? match[2]!)
    // the parser is needed once more when the body has ended
    const environment = yield* Effect.context<R>()
    const pull = Effect.provide(yield* Stream.toPull(form.content), environment)

    /** Reads on; false at the end of the body. */
    const advance: Effect.Effect<boolean, E | StagingError> = pull.pipe(
      Effect.matchEffect({
        onSuccess: (chunks) =>
          Effect.sync(() => {
            for (const chunk of chunks) if (parser.file !== "after") parser.write(chunk)
            return true
          }),
        onFailure: Option.match({
          onSome: Effect.fail<E>,
          onNone: () =>
            Effect.sync(() => {
              if (parser.file !== "after") parser.end()
              return false
            })
        })
      }),
      Effect.flatMap((more): Effect.Effect<boolean, StagingError> =>
        parser.failure === undefined ? Effect.succeed(more) : Effect.fail(parser.failure)
      )
    )

    while (parser.file === "before") yield* advance

    const next: Effect.Effect<Chunk.Chunk<Uint8Array>, Option.Option<E | StagingError>> = Effect.suspend(() => {
      if (parser.content.length > 0) {
        const content = parser.content
        parser.content = []
        return Effect.succeed(Chunk.unsafeFromArray(content))
      }
      return Effect.flatMap(
        Effect.mapError(advance, Option.some),
        (more) => more || parser.content.length > 0 ? next : Effect.fail(Option.none())
      )
    })
    return { key: parser.key!, file: Stream.repeatEffectChunkOption(next) }
  })
