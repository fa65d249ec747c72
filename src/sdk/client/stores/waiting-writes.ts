/** The writes that wait to be sent: writes of one key supersede each other, and batches are taken from the front. */
import type { AtriumError } from "../../core/error.ts";
import { byteLength, isRecord } from "../../core/json.ts";
import type { WaitingRequest } from "../connection/requests.ts";
import type { Operation } from "./entries.ts";
import { type FittedWrite, operationOf, type Written } from "./writes.ts";

/** The most operations that the room takes in one batch. */
const MAX_OPERATIONS = 500;
/** The room refuses larger values: updates that are merged beyond it would all be refused. */
const MAX_MERGED_BYTES = 192 * 1024;

/** The store that a write is for. */
export interface WriteTarget {
  readonly name: string;
  /** One of its writes was answered, or has failed. */
  settle(write: QueuedWrite, isRefused: boolean): void;
}

/** A write without a response. While it waits, a newer write of its key may become part of it. */
export interface QueuedWrite extends Operation {
  readonly target: WriteTarget;
  action: Operation["action"];
  value: unknown;
  readonly ifVersion?: number | undefined;
  /** The writes that take effect together with it; null if it succeeds or fails by itself. */
  readonly group: object | null;
  /** The requests that were made after it, and before any later write. */
  readonly requestsAfter: WaitingRequest[];
  /** Called with the outcome, once for each write that it contains. */
  readonly settled: ((outcome: Written | AtriumError) => void)[];
}

/** Writes that are sent together, and their operations. */
export interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly operations: readonly object[];
  readonly atomic: boolean;
  readonly bytes: number;
}

/** Writes that are sent together, under the id that they are sent with until it is answered. */
export interface KeptBatch {
  readonly requestId: string;
  readonly writes: readonly QueuedWrite[];
}

export class WaitingWrites {
  #writes: QueuedWrite[] = [];
  /** The write of each key that a newer one supersedes. */
  readonly #latest = new Map<string, QueuedWrite>();

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** The latest write, which stays as it is from now on, and which no later one overtakes. */
  sealLatest(): QueuedWrite | undefined {
    this.#latest.clear();
    return this.#writes.at(-1);
  }

  /** Adds a write. Returns the write that contains it: a waiting one of the same key, or a new one. */
  add(target: WriteTarget, operation: FittedWrite): QueuedWrite {
    if (operation.ifVersion !== undefined) return this.#addApart(target, operation, null);
    const id = idOf(target, operation);
    const earlier = this.#latest.get(id);
    const merged = earlier === undefined ? null : mergeOperations(earlier, operation);
    const isFitting =
      merged === operation || (merged && bytesOf(operationOf(target.name, merged)) <= MAX_MERGED_BYTES);
    if (earlier !== undefined && merged !== null && isFitting) {
      earlier.action = merged.action;
      earlier.value = merged.value;
      return earlier;
    }
    const write = this.#push(target, operation, null);
    this.#latest.set(id, write);
    return write;
  }

  /** Adds writes that take effect together. */
  addBatch(target: WriteTarget, operations: readonly FittedWrite[]): QueuedWrite[] {
    const group = {};
    return operations.map((operation) => this.#addApart(target, operation, group));
  }

  /** Adds writes that were made before all others. */
  addFirst(writes: readonly QueuedWrite[]): void {
    this.#writes = [...writes, ...this.#writes]; // arguments have room for some 100,000 only
  }

  /** Adds a write that stays as it is, and that no other one overtakes. */
  #addApart(target: WriteTarget, operation: FittedWrite, group: object | null): QueuedWrite {
    this.#latest.clear();
    return this.#push(target, operation, group);
  }

  #push(target: WriteTarget, operation: FittedWrite, group: object | null): QueuedWrite {
    const write = { ...operation, target, group, requestsAfter: [], settled: [] };
    this.#writes.push(write);
    return write;
  }

  /** Takes the next batch: the writes that take effect together, or as many others as fit, and at least one. */
  take(maxBytes: number): Batch {
    const group = this.#writes[0]?.group ?? null;
    const operations: object[] = [];
    let bytes = 0;
    let isFollowed = false;
    for (const write of this.#writes) {
      const operation = operationOf(write.target.name, write);
      const length = bytesOf(operation);
      const isFull = operations.length >= MAX_OPERATIONS || bytes + length > maxBytes || isFollowed;
      if (write.group !== group || (isFull && group === null && operations.length > 0)) break;
      operations.push(operation);
      bytes += length;
      isFollowed = write.requestsAfter.length > 0;
      const id = idOf(write.target, write);
      if (this.#latest.get(id) === write) this.#latest.delete(id);
    }
    const writes = this.#writes.splice(0, operations.length);
    return { writes, operations, atomic: group !== null, bytes };
  }

  /** Takes out everything that waits, without sending it. */
  clear(): QueuedWrite[] {
    this.#latest.clear();
    return this.#writes.splice(0);
  }
}

const bytesOf = (operation: object): number => byteLength(JSON.stringify(operation));

/** Identifies a key of a store. */
const idOf = ({ name }: WriteTarget, { key }: Operation): string => `${name.length} ${name}${key}`;

/** The one write that does what both do; null if the later one may be refused after the earlier one. */
export function mergeOperations(earlier: Operation, later: Operation): Operation | null {
  if (later.action !== "update") return later;
  if (earlier.action === "delete") return { ...later, action: "set" };
  if (!isRecord(earlier.value) || !isRecord(later.value)) return null;
  return { ...earlier, value: { ...earlier.value, ...later.value } };
}
