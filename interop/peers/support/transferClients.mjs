// The two sides of a transfer with one face: `download`, `upload`, `uploader`. Each answers `{ value }` or
// `{ error: { code, status, retryable } }`; an `over` of a port is the agent's whose request is served.
import { Grant } from "@effect-agentenv/protocol"
import { Loopback, NamespaceUploader, Source, Transfers } from "@effect-agentenv/transfers"
import { Effect, Either, ManagedRuntime, Schema } from "effect"
import { join } from "node:path"

const wire = {
  read: Schema.encodeSync(Grant.ReadObject),
  write: Schema.encodeSync(Grant.WriteObject),
  namespace: Schema.encodeSync(Grant.WriteNamespaceGrant)
}

/** Ours, which trust an authority. */
export const ours = (ca) => {
  const runtime = ManagedRuntime.make(Transfers.layer({ ca }))
  const run = (effect, over) =>
    runtime.runPromise(Effect.either(over === undefined ? effect : Loopback.servingOn(over)(effect))).then(
      Either.match({
        onLeft: ({ code, retryable, status }) => ({ error: { code, status, retryable } }),
        onRight: (value) => ({ value })
      })
    )
  return {
    name: "ours",
    download: (object, target, over) =>
      run(Effect.flatMap(Transfers.Transfers, (transfers) => transfers.download(object, target)), over),
    upload: (object, content, over) =>
      run(
        Effect.flatMap(Transfers.Transfers, (transfers) => transfers.upload(object, Source.bytes(content))),
        over
      ),
    uploader: (grant) => {
      const made = runtime.runPromise(NamespaceUploader.make(grant))
      return async (path, content, over) => run((await made).upload(path, Source.bytes(content)), over)
    },
    stop: () => runtime.dispose()
  }
}

/** Those of a release of the reference, as a process that takes its authority and its port from the environment. */
export const reference = (context, release, version, env) => {
  const program = join(import.meta.dirname, "../python/transfers.py")
  const { ask } = context.converse(context.python(release), [program], env)
  const send = async (message) => {
    const answer = await ask(message)
    if (answer.crash !== undefined) throw new Error(`Python raised ${answer.crash}`)
    return answer
  }
  const base64 = (content) => Buffer.from(content).toString("base64")
  let uploaders = 0
  return {
    name: version,
    download: (object, target, serving) => send({ step: "download", object: wire.read(object), target, serving }),
    upload: (object, content, serving) =>
      send({ step: "upload", object: wire.write(object), bytes: base64(content), serving }),
    uploader: (grant) => {
      const uploader = String(uploaders++)
      return (path, content, serving) =>
        send({ step: "namespace", uploader, grant: wire.namespace(grant), path, bytes: base64(content), serving })
    },
    exported: (url, grant) => send({ step: "export", url, grant: wire.namespace(grant) }),
    stop: async () => {}
  }
}
