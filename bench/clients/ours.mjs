// The side under test: `CA_FILE`, then steps in lines of JSON.
import * as Grant from "@effect-agentenv/protocol/Grant"
import * as NamespaceUploader from "@effect-agentenv/transfers/NamespaceUploader"
import * as Source from "@effect-agentenv/transfers/Source"
import * as Transfers from "@effect-agentenv/transfers/Transfers"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { answers } from "./answers.mjs"

const runtime = ManagedRuntime.make(Transfers.layer({ ca: readFileSync(process.argv[2], "utf8") }))

const decode = {
  read: Schema.decodeUnknownSync(Grant.ReadObject),
  write: Schema.decodeUnknownSync(Grant.WriteObject),
  namespace: Schema.decodeUnknownSync(Grant.WriteNamespaceGrant)
}

const using = (use) => runtime.runPromise(Effect.flatMap(Transfers.Transfers, use))

await answers({
  download: ({ object, target }) => using((transfers) => transfers.download(decode.read(object), target)),
  upload: ({ file, object }) => using((transfers) => transfers.upload(decode.write(object), Source.file(file))),
  namespace_many: ({ bytes, count, grant }) => {
    const content = Buffer.from(bytes, "base64")
    return runtime.runPromise(
      Effect.flatMap(NamespaceUploader.make(decode.namespace(grant)), (uploader) =>
        Effect.forEach(
          Array.from({ length: count }, (_, number) => `object-${number}`),
          (path) => uploader.upload(path, Source.bytes(content)),
          { discard: true }
        ))
    )
  }
})
