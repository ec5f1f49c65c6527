/**
 * A parcel desk: parcels wait on shelves to be handed over to the people they are for. It is an environment: an agent works with its
 * tools, and a trainer reads from its state how well it did.
 */
import { Environment, Seed, Tool } from "@effect-agentenv/environment"
import { AgentEnvError, Part } from "@effect-agentenv/protocol"
import { Effect, Random, Ref, Schema } from "effect"

// --- What the environment is -----------------------------------------------------------------------------------------

const Arrival = Schema.Struct({ id: Schema.String, recipient: Schema.String })

const Parcel = Schema.Struct({
  ...Arrival.fields,
  shelf: Schema.Int,
  handedTo: Schema.NullOr(Schema.String)
})

/** What the state is exported as. */
export const Desk = Schema.Struct({ parcels: Schema.Array(Parcel), refusals: Schema.Int })

class WrongRecipient extends Schema.TaggedError<WrongRecipient>()("WrongRecipient", {
  parcel: Schema.String,
  recipient: Schema.String
}) {
  override get message() {
    return `Parcel ${this.parcel} is not for ${this.recipient}.`
  }
}

const FindParcels = Tool.make("{environment_name}_find_parcels", {
  description: "List the parcels that wait for someone, with the shelf that each is on.",
  parameters: { recipient: Schema.String.annotations({ description: "The name on the parcel." }) },
  success: Schema.Array(Schema.Struct({ id: Schema.String, shelf: Schema.Int })),
  annotations: { readOnlyHint: true }
})

const HandOver = Tool.make("{environment_name}_hand_over", {
  description: "Hand a parcel over to the person at the desk.",
  parameters: {
    parcel: Schema.String.annotations({ description: "The id of the parcel." }),
    recipient: Schema.String.annotations({ description: "Who takes it." })
  },
  success: Schema.String,
  failure: WrongRecipient
})

export const ParcelDesk = Environment.make("parcel_desk", { tools: [FindParcels, HandOver] })

// --- How it works ----------------------------------------------------------------------------------------------------

const empty: typeof Desk.Type = { parcels: [], refusals: 0 }

export const ParcelDeskLive = ParcelDesk.toLayer(Effect.gen(function*() {
  const desk = yield* Ref.make(empty)
  return {
    reset: Ref.set(desk, empty),
    // Shelves are drawn from the environment's own `Random`: the same seed, the same shelves.
    add: Seed.load(Schema.Struct({ parcels: Schema.Array(Arrival) }), ({ parcels }) =>
      Effect.gen(function*() {
        const shelved = yield* Effect.forEach(parcels, (parcel) =>
          Effect.map(Random.nextIntBetween(1, 10), (shelf) => ({ ...parcel, shelf, handedTo: null })))
        yield* Ref.update(desk, (now) => ({ ...now, parcels: [...now.parcels, ...shelved] }))
      })),
    get: Effect.map(Ref.get(desk), (data) => [Part.DataPart.make({ data })]),
    tools: {
      "{environment_name}_find_parcels": ({ recipient }) =>
        Effect.map(Ref.get(desk), ({ parcels }) =>
          parcels
            .filter((parcel) => parcel.recipient === recipient && parcel.handedTo === null)
            .map(({ id, shelf }) => ({ id, shelf }))),
      "{environment_name}_hand_over": ({ parcel: id, recipient }) =>
        Effect.gen(function*() {
          const { parcels } = yield* Ref.get(desk)
          const parcel = parcels.find((parcel) => parcel.id === id)
          if (parcel === undefined || parcel.handedTo !== null) {
            return yield* new AgentEnvError.AgentEnvError({
              code: "no_such_parcel",
              message: `No parcel ${id} is waiting.`,
              hint: "Look for the recipient's parcels first."
            })
          }
          if (parcel.recipient !== recipient) {
            yield* Ref.update(desk, (now) => ({ ...now, refusals: now.refusals + 1 }))
            return yield* new WrongRecipient({ parcel: id, recipient })
          }
          yield* Ref.update(desk, (now) => ({
            ...now,
            parcels: now.parcels.map((each) => each.id === id ? { ...each, handedTo: recipient } : each)
          }))
          return `${recipient} took ${id} from shelf ${parcel.shelf}.`
        })
    }
  }
}))
