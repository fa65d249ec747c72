/** The awareness of a document: states of its clients, each bound to the socket that first used its ID. */
import { isTooDeep } from "../../../platform/text.ts";
import { MAX_FRAME_DEPTH } from "../../protocol/limits.ts";
import type { AwarenessEntry } from "./frames.ts";

/** Characters of a state, and entries of a socket. Clients choose their IDs, so an ID proves nothing. */
const MAX_STATE_LENGTH = 8 * 1024;
export const MAX_ENTRIES_OF_SOCKET = 32;

interface Bound extends Omit<AwarenessEntry, "state"> {
  readonly socketId: string;
  /** Null after the room lost its memory. */
  readonly state: string | null;
}

const GONE = "null";

/** Clients compare states by recursion. */
const isAcceptable = (state: string): boolean =>
  state.length <= MAX_STATE_LENGTH && !isTooDeep(state, MAX_FRAME_DEPTH);

/** States are in memory only; sockets keep IDs and clocks. */
export class Awareness {
  readonly #entries = new Map<number, Bound>();
  /** Clients by socket. No set is empty. */
  readonly #clients = new Map<string, Set<number>>();

  /** Applies the entries of a socket, and returns the news: no entries of other sockets, no outdated ones. */
  apply(socketId: string, entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    return entries.filter((entry) => this.#applyOne(socketId, entry));
  }

  #applyOne(socketId: string, { client, clock, state }: AwarenessEntry): boolean {
    const known = this.#entries.get(client);
    if (known === undefined) {
      const isFull = (this.#clients.get(socketId)?.size ?? 0) >= MAX_ENTRIES_OF_SOCKET;
      if (state === GONE || isFull) return false;
    } else if (known.socketId !== socketId) return false;
    else if (clock < known.clock) return false;
    else if (clock === known.clock && state !== GONE && known.state !== null) return false;
    if (!isAcceptable(state)) return false;
    if (state === GONE) this.#delete(socketId, client);
    else this.#set({ client, clock, state, socketId });
    return true;
  }

  #set(entry: Bound): void {
    const clients = this.#clients.get(entry.socketId) ?? new Set();
    this.#clients.set(entry.socketId, clients.add(entry.client));
    this.#entries.set(entry.client, entry);
  }

  #delete(socketId: string, client: number): void {
    const clients = this.#clients.get(socketId);
    clients?.delete(client);
    if (clients?.size === 0) this.#clients.delete(socketId);
    this.#entries.delete(client);
  }

  all(): AwarenessEntry[] {
    return [...this.#entries.values()].flatMap(({ client, clock, state }) =>
      state === null ? [] : { client, clock, state },
    );
  }

  /** Lists the IDs of a socket, with their clocks. */
  idsOf(socketId: string): Pick<AwarenessEntry, "client" | "clock">[] {
    return [...(this.#clients.get(socketId) ?? [])].flatMap((client) => {
      const { clock } = this.#entries.get(client) ?? {};
      return clock === undefined ? [] : { client, clock };
    });
  }

  /** Restores an entry from the attachment of its socket. */
  restore(socketId: string, { client, clock }: Pick<AwarenessEntry, "client" | "clock">): void {
    this.#set({ client, clock, socketId, state: null });
  }

  /** Removes the entries of a socket, and returns the entries that tell the others. */
  remove(socketId: string): AwarenessEntry[] {
    const removed = this.idsOf(socketId).map((id) => ({ ...id, state: GONE }));
    for (const { client } of removed) this.#delete(socketId, client);
    return removed;
  }
}
