/** What clients had written when they began to synchronize: Hocuspocus' client no longer counts such updates. */
import * as decoding from "lib0/decoding";
import { decodeStateVector } from "yjs";
import { scanUpdate } from "../updates/update-scan.ts";
import type { Subscription } from "./subscription.ts";

/** How much is remembered of a socket's documents: so many clocks, and each document as one more. */
const MAX_CLOCKS_OF_SOCKET = 10_000;

/** How far each client's operations were known. */
type Clocks = ReadonlyMap<number, number>;

export class BegunSyncs {
  /** By socket and document: of the client's latest step 1, the clocks that the room lacks; null once all of it is stored. */
  readonly #clocks = new Map<string, Map<string, Clocks | null>>();

  /** A client has sent a step 1, when the room has `stored`. It is not remembered if the socket's would become too many. */
  begin({ socketId, key }: Subscription, stateVector: Uint8Array, stored: Uint8Array): void {
    const known = this.#clocks.get(socketId) ?? new Map<string, Clocks | null>();
    known.delete(key ?? "");
    const others = [...known.values()].reduce((sum, clocks) => sum + (clocks?.size ?? 0) + 1, 0);
    const lacking = clocksBeyond(decodeStateVector(stored), stateVector, MAX_CLOCKS_OF_SOCKET - others);
    if (lacking !== null) known.set(key ?? "", lacking);
    this.#clocks.set(socketId, known);
  }

  /**
   * A client has sent a step 2, after which the room has this state vector. Returns whether it is the one that completes
   * its synchronization: of several, the first after which the room has all that the client had.
   */
  complete({ socketId, key }: Subscription, stateVector: Uint8Array): boolean {
    const known = this.#clocks.get(socketId);
    const clocks = known?.get(key ?? "");
    if (clocks === undefined) return true; // it was forgotten
    if (clocks === null) return false;
    const stored = decodeStateVector(stateVector);
    if ([...clocks].some(([client, clock]) => (stored.get(client) ?? 0) < clock)) return false;
    known?.set(key ?? "", null);
    return true;
  }

  /**
   * Whether the client had made the update, or began to, before its step 1, so that its answer to the room's has it as
   * well. Only operations tell: null for an update that only deletes. False once the client is synchronized.
   */
  includes({ socketId, key }: Subscription, update: Uint8Array): boolean | null {
    const clocks = this.#clocks.get(socketId)?.get(key ?? "");
    if (clocks === undefined || clocks === null) return false;
    const { inserted } = scanUpdate(update);
    if (inserted.length === 0) return null;
    return inserted.some(({ client, start }) => start < (clocks.get(client) ?? 0));
  }

  /** A socket is gone. */
  forget(socketId: string): void {
    this.#clocks.delete(socketId);
  }
}

/** Of a client's state vector, which can name millions, what is beyond `stored`; null if it is of `max` clients or more. */
function clocksBeyond(stored: Clocks, stateVector: Uint8Array, max: number): Clocks | null {
  const clocks = new Map<number, number>();
  const decoder = decoding.createDecoder(stateVector);
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const [client, clock] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
    if (clock > (stored.get(client) ?? 0)) clocks.set(client, clock);
    if (clocks.size >= max) return null;
  }
  return clocks;
}
