/** The types that an application gives its client: what its presence and its broadcasts look like. */
import type { PresenceState } from "../wire/resources.ts";

/**
 * Declares what users show and send, as the second type argument of the client:
 * `AtriumClient<typeof stores, { presence: Shown; broadcasts: { cheer: Cheer } }>`. What is left out can be any JSON.
 * The service does not check presence and broadcasts: other clients can send anything.
 */
export interface ClientTypes {
  /** The fields that a user can show. */
  readonly presence?: object;
  /** The data of broadcasts by the names of their events. */
  readonly broadcasts?: object;
}

export type PresenceIn<Types extends ClientTypes> = Types extends {
  readonly presence: infer Shown extends object;
}
  ? Shown
  : PresenceState;

export type BroadcastsIn<Types extends ClientTypes> = Types extends {
  readonly broadcasts: infer Sent extends object;
}
  ? Sent
  : Record<string, unknown>;
