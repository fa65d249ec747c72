/**
 * R80: messages of one socket take effect in order, so no one receives a broadcast before the write that
 * precedes it.
 */
import { expect } from "vitest";
import type { Peer } from "./peer.ts";
import type { Change, Passing } from "./wire.ts";

const NAME = "ordered";
const STORE = "s";

/** A client received the broadcast after a write, and had seen the room up to the change `seq` by then. */
interface Receipt {
  readonly peer: Peer;
  readonly number: number;
  readonly seq: number;
}

export class Order {
  #latest = 0;
  /** The change that each write made. */
  readonly #writes = new Map<number, number>();
  readonly #receipts: Receipt[] = [];

  /** Numbers a write and its broadcast. */
  next(): number {
    this.#latest += 1;
    return this.#latest;
  }

  writeOf(number: number): object {
    return { store: STORE, key: NAME, value: { number } };
  }

  broadcastOf(number: number): object {
    return { event: NAME, data: { number } };
  }

  /** A client has received an event. */
  notice(peer: Peer, event: Change | Passing): void {
    if (event.event === "storeChanged" && event.data.key === NAME) {
      const number = numberIn(event.data.value);
      if (number !== null) this.#writes.set(number, event.seq);
    } else if (event.event === "broadcast" && event.data.event === NAME) {
      const number = numberIn(event.data.data);
      if (number !== null) this.#receipts.push({ peer, number, seq: peer.seq });
    }
  }

  check(): void {
    for (const { peer, number, seq } of this.#receipts) {
      const write = this.#writes.get(number);
      if (write === undefined) continue; // the write was refused
      expect(seq, `${peer.name} receives broadcast ${number} after its write`).toBeGreaterThanOrEqual(write);
    }
  }
}

function numberIn(value: unknown): number | null {
  const { number } = (typeof value === "object" && value !== null ? value : {}) as { number?: unknown };
  return typeof number === "number" ? number : null;
}
