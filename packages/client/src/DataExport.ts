/**
 * Taking an export whichever way it came: inline, or uploaded to a namespace of the caller's.
 *
 * @since 0.1.0
 */
import * as DataObjects from "@effect-agentenv/protocol/DataObjects"
import type { WriteNamespaceGrant } from "@effect-agentenv/protocol/Grant"
import type { Part } from "@effect-agentenv/protocol/Part"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type { EnvironmentClientError, Service } from "./EnvironmentClient.ts"

/**
 * Where an environment may upload, and how the caller reads what lies there: `read` is given the path below the grant's root
 * (B-DOBJ-5, B-DOBJ-6).
 *
 * @since 0.1.0
 * @category models
 */
export interface Namespace<E, R> {
  readonly grant: WriteNamespaceGrant
  readonly read: (path: string) => Effect.Effect<Uint8Array, E, R>
}

/**
 * Puts the content of uploaded objects in their parts' place, as inline bytes; other parts stay as they are.
 *
 * @since 0.1.0
 * @category combinators
 */
export const resolve = <E, R>(
  parts: ReadonlyArray<Part>,
  read: Namespace<E, R>["read"]
): Effect.Effect<ReadonlyArray<Part>, E | DataObjects.InvalidDataObject, R> =>
  Effect.forEach(parts, (part) =>
    Effect.flatMap(DataObjects.path(part), (path) => {
      if (path === undefined || part.kind !== "file") return Effect.succeed(part)
      const { mimeType, name } = part.file
      return Effect.map(read(path), (content): Part => ({
        kind: "file",
        file: {
          bytes: Encoding.encodeBase64(content),
          ...(mimeType === undefined ? {} : { mimeType }),
          ...(name === undefined ? {} : { name })
        }
      }))
    }))

/**
 * Reads the state of an environment through a namespace, which the environment may use or not.
 *
 * @since 0.1.0
 * @category combinators
 */
export const take = <E, R>(
  environment: Service,
  namespace: Namespace<E, R>
): Effect.Effect<ReadonlyArray<Part>, EnvironmentClientError | DataObjects.InvalidDataObject | E, R> =>
  Effect.flatMap(
    environment.get({ writeNamespace: namespace.grant }),
    (parts) => resolve(parts, namespace.read)
  )
