/** Types that an application gives its client, for stores, presence and broadcasts. */
import type { PresenceState } from "../wire/resources.ts";
import type { StoreShapes } from "./stores/writes.ts";

/** Your types: `declare module "atrium/client" { interface Register { stores: typeof stores; presence: Shown } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface Register {}

/**
 * Types of presence and broadcasts, declared once in {@link Register} or as a client's second type argument. Omitted ones
 * are any JSON. The service does not check them: other clients can send anything.
 */
export interface ClientTypes {
  /** The type of the result of `defineStores`, for the hooks; a client takes its own from the option `stores`. */
  readonly stores?: StoreShapes;
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

export type StoresIn<Types extends ClientTypes> = Types extends {
  readonly stores: infer Shapes extends StoreShapes;
}
  ? Shapes
  : Record<never, never>;

/** The types that the application has declared in {@link Register}. */
export type Registered = Register extends ClientTypes ? Register : ClientTypes;
