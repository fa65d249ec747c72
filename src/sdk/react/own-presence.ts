/** Your own presence, visible to your own components at once, before it is sent. */
import type { PresenceState } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import type { Unsubscribe } from "./external-source.ts";

export class OwnPresence {
  readonly #client: AnyClient;
  readonly #listeners = new Set<() => void>();
  #state: PresenceState = {};

  constructor(client: AnyClient) {
    this.#client = client;
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): PresenceState => this.#state;

  /** Changes some fields and keeps the others, because several components can each set their own. */
  readonly update = (change: object): void => {
    const state = { ...this.#state, ...change };
    this.#client.presence.update(state);
    this.#state = state;
    for (const listener of this.#listeners) listener();
  };
}
