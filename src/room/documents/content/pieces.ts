/** The pieces of a document in columns of numbers: a fraction of the memory that Yjs needs for them. */
import { SKIP } from "../updates/update-content.ts";
import type { OperationId } from "../updates/update-reader.ts";
import type { Boundaries } from "./boundaries.ts";

/** No piece, and no list. */
export const NONE = -1;
/** What an operation refers to is not there. */
export const MISSING = -2;

export class Pieces {
  /** The bytes that {@link at} points into. */
  readonly bytes: Uint8Array;
  readonly clock: Float64Array;
  /** What each holds; {@link SKIP} for what is not there. */
  readonly kind: Uint8Array;
  readonly isDeleted: Uint8Array;
  /** Whether it begins with the second half of a character. */
  readonly isBroken: Uint8Array;
  /** Where its content begins. */
  readonly at: Uint32Array;
  /** What stood to the left and to the right of it when it was inserted, and what follows it now. */
  readonly origin: Int32Array;
  readonly rightOrigin: Int32Array;
  readonly next: Int32Array;
  /** The list that it is in. {@link NONE} when its neighbors say it or, once it is arranged, for one that is in none. */
  readonly list: Int32Array;
  readonly #clients: readonly number[];
  /** By client, the index of its first piece; and at last their count. */
  readonly bases: readonly number[];

  constructor(bytes: Uint8Array, boundaries: Boundaries) {
    const bases = [0];
    for (const [, clocks] of boundaries) bases.push((bases.at(-1) ?? 0) + clocks.length);
    const count = bases.at(-1) ?? 0;
    this.bytes = bytes;
    this.#clients = boundaries.map(([client]) => client);
    this.bases = bases;
    this.clock = new Float64Array(count);
    for (const [index, [, clocks]] of boundaries.entries()) this.clock.set(clocks, bases[index]);
    this.kind = new Uint8Array(count).fill(SKIP);
    [this.isDeleted, this.isBroken] = [new Uint8Array(count), new Uint8Array(count)];
    this.at = new Uint32Array(count);
    this.origin = new Int32Array(count).fill(NONE);
    this.rightOrigin = new Int32Array(count).fill(NONE);
    this.next = new Int32Array(count).fill(NONE);
    this.list = new Int32Array(count).fill(NONE);
  }

  /** The piece that has an operation; {@link MISSING} if none does. */
  find({ client, clock }: OperationId): number {
    const index = lastAtMost(this.#clients, client, 0, this.#clients.length);
    if (this.#clients[index] !== client) return MISSING;
    const [from, end] = [this.bases[index] ?? 0, this.bases[index + 1] ?? 0];
    const found = lastAtMost(this.clock, clock, from, end);
    return found < from ? MISSING : found;
  }

  /** How many operations it has. Behind the last piece of each client begins one that is not there. */
  lengthOf(piece: number): number {
    return (this.clock[piece + 1] ?? 0) - (this.clock[piece] ?? 0);
  }

  /** The position, among all clients, of the one that has inserted a piece: in the order of their numbers. */
  clientOf(piece: number): number {
    return lastAtMost(this.bases, piece, 0, this.bases.length);
  }
}

/** Between `from` and `end`, the last position whose value is at most this one; the position before `from` if none is. */
function lastAtMost(values: ArrayLike<number>, value: number, from: number, end: number): number {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
