/** Who is in a document, as its clients say: each entry is bound to the socket that first used its id. */
import type { AwarenessEntry } from "./wire/frames.ts";

/** One entry, and all entries of a socket. An id is chosen by its client, so it proves nothing. */
const MAX_STATE_LENGTH = 8 * 1024;
const MAX_ENTRIES_OF_SOCKET = 32;

interface Bound extends AwarenessEntry {
  readonly socketId: string;
}

const GONE = "null";

/** Memory only: clients repeat their entries every 15 s. */
export class Awareness {
  readonly #entries = new Map<number, Bound>();

  /** Takes the entries of a socket, and returns those that are news: not those of other sockets, nor outdated ones. */
  apply(socketId: string, entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    return entries.filter((entry) => this.#applyOne(socketId, entry));
  }

  #applyOne(socketId: string, entry: AwarenessEntry): boolean {
    const { client, clock, state } = entry;
    const known = this.#entries.get(client);
    if (known === undefined) {
      const isFull = this.of(socketId).length >= MAX_ENTRIES_OF_SOCKET;
      if (state === GONE || isFull || state.length > MAX_STATE_LENGTH) return false;
    } else if (known.socketId !== socketId || state.length > MAX_STATE_LENGTH) return false;
    else if (clock < known.clock || (clock === known.clock && state !== GONE)) return false;
    if (state === GONE) this.#entries.delete(client);
    else this.#entries.set(client, { client, clock, state, socketId });
    return true;
  }

  /** The entries of a socket. */
  of(socketId: string): AwarenessEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.socketId === socketId);
  }

  all(): AwarenessEntry[] {
    return [...this.#entries.values()];
  }

  /** Removes a socket's entries, and returns what tells the others. */
  remove(socketId: string): AwarenessEntry[] {
    const removed = this.of(socketId);
    for (const { client } of removed) this.#entries.delete(client);
    return removed.map(({ client, clock }) => ({ client, clock, state: GONE }));
  }
}
