/** Remembers the state of each client at its step 1: Hocuspocus' client no longer counts updates made before it. */
import * as decoding from "lib0/decoding";
import { decodeStateVector } from "yjs";
import { scanUpdate } from "../updates/update-reader.ts";
import type { Subscription } from "./subscription.ts";

/** Clocks that are remembered for one socket; each document counts as one more. */
const MAX_CLOCKS_OF_SOCKET = 10_000;

/** A state vector. */
type Clocks = ReadonlyMap<number, number>;

export class BegunSyncs {
  /** By socket and document: clocks of the latest step 1 that the room lacks; null once all of them are stored. */
  readonly #clocks = new Map<string, Map<string, Clocks | null>>();

  /** Remembers a step 1, unless the socket has too many clocks. The room has `stored`. */
  begin({ socketId, key }: Subscription, stateVector: Uint8Array, stored: Uint8Array): void {
    const known = this.#clocks.get(socketId) ?? new Map<string, Clocks | null>();
    known.delete(key ?? "");
    const others = [...known.values()].reduce((sum, clocks) => sum + (clocks?.size ?? 0) + 1, 0);
    const lacking = clocksBeyond(decodeStateVector(stored), stateVector, MAX_CLOCKS_OF_SOCKET - others);
    if (lacking !== null) known.set(key ?? "", lacking);
    this.#clocks.set(socketId, known);
  }

  /**
   * Tells whether a step 2 completes the synchronization: it is the first one after which the room, with this state
   * vector, has all of the client's operations.
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
   * Tells whether an update was made, at least in part, before the step 1, so that the answer to the room's step 1
   * has it as well. Only operations tell: null for an update that only deletes. False once the client is
   * synchronized.
   */
  includes({ socketId, key }: Subscription, update: Uint8Array): boolean | null {
    const clocks = this.#clocks.get(socketId)?.get(key ?? "");
    if (clocks === undefined || clocks === null) return false;
    const { inserted } = scanUpdate(update);
    if (inserted.length === 0) return null;
    return inserted.some(({ client, start }) => start < (clocks.get(client) ?? 0));
  }

  /** Forgets a socket that is gone. */
  forget(socketId: string): void {
    this.#clocks.delete(socketId);
  }
}

/** The clocks of a state vector beyond `stored`; null for `max` clients or more: it may name millions. */
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
