/** What clients had written when they began to synchronize: Hocuspocus' client no longer counts such updates. */
import * as decoding from "lib0/decoding";
import { decodeStateVector } from "yjs";
import type { Subscription } from "./subscription.ts";
import { scanUpdate } from "./update-scan.ts";

/** How much is remembered of a socket's documents: so many clocks, and each document as one more. */
const MAX_CLOCKS_OF_SOCKET = 10_000;

/** How far each client's operations were known. */
type Clocks = ReadonlyMap<number, number>;

export class BegunSyncs {
  /** By socket and document: the clocks of the client's latest step 1. */
  readonly #clocks = new Map<string, Map<string, Clocks>>();

  /** A client has sent a step 1. It is not remembered if the socket's would become too many. */
  begin({ socketId, key }: Subscription, stateVector: Uint8Array): void {
    const known = this.#clocks.get(socketId) ?? new Map<string, Clocks>();
    known.delete(key ?? "");
    const others = [...known.values()].reduce((sum, { size }) => sum + size + 1, 0);
    if (others + clocksIn(stateVector) < MAX_CLOCKS_OF_SOCKET)
      known.set(key ?? "", decodeStateVector(stateVector));
    this.#clocks.set(socketId, known);
  }

  /** A client has answered the room's step 1: what it sends from now on is new. */
  end({ socketId, key }: Subscription): void {
    this.#clocks.get(socketId)?.delete(key ?? "");
  }

  /**
   * Whether the client had made the update before its step 1, so that its answer to the room's has it as well. Only
   * operations tell: false for an update that only deletes.
   */
  includes({ socketId, key }: Subscription, update: Uint8Array): boolean {
    const clocks = this.#clocks.get(socketId)?.get(key ?? "");
    if (clocks === undefined) return false;
    const { inserted } = scanUpdate(update);
    return inserted.length > 0 && inserted.every(({ client, end }) => end <= (clocks.get(client) ?? 0));
  }

  /** A socket is gone. */
  forget(socketId: string): void {
    this.#clocks.delete(socketId);
  }
}

const clocksIn = (stateVector: Uint8Array): number =>
  decoding.readVarUint(decoding.createDecoder(stateVector));
