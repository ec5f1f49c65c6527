/**
 * TLS before a server that has none, since grants are for `https` URLs alone.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AddressInfo, connect, type Socket } from "node:net"
import { createServer } from "node:tls"
import * as authority from "./internal/authority.ts"

/**
 * Where a front is reached, and the certificate (PEM) of its authority, which is that of the object stores of this process too.
 *
 * @since 0.1.0
 * @category models
 */
export interface TlsFront {
  readonly url: string
  readonly ca: string
}

/**
 * A certificate for `localhost` and 127.0.0.1, its key, and the authority that vouches for it, all PEM.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/**
 * What a TLS server of one's own shows; the same all over a process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const identity: Effect.Effect<Identity> = Effect.promise(authority.identity)

/**
 * Serves over TLS, on a free port of 127.0.0.1, what listens on `port` of 127.0.0.1, until the scope closes. Bytes pass as they are,
 * so a server without a listener shows as a connection that breaks off.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (port: number): Effect.Effect<TlsFront, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { ca, cert, key } = yield* identity
    const open = new Set<Socket>()
    const server = createServer({ key, cert }, (socket) => {
      const inner = connect(port, "127.0.0.1")
      for (const [one, other] of [[socket, inner], [inner, socket]] as const) {
        open.add(one)
        one.on("error", () => other.destroy())
        one.on("close", () => {
          open.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
    server.on("tlsClientError", () => {})
    const listening = Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    })
    const own = yield* Effect.acquireRelease(listening, () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of open) socket.destroy()
      }))
    return { url: `https://127.0.0.1:${own}`, ca }
  })
