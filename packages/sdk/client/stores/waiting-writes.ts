/** The writes that wait to be sent: writes of one key supersede each other, and batches are taken from the front. */
import type { AtriumError, Fault } from "../../core/error.ts";
import { byteLength, isRecord } from "../../core/json.ts";
import type { WaitingRequest } from "../connection/requests.ts";
import type { Operation } from "./entries.ts";
import { type FittedWrite, operationOf, type Written } from "./writes.ts";

const MAX_OPERATIONS = 500;
/** Updates that are merged beyond the limit of a value would all be refused. */
const MAX_MERGED_BYTES = 192 * 1024;

export interface WriteTarget {
  readonly name: string;
  settle(write: QueuedWrite, isRefused: boolean): void;
}

/** A write without a response. While it waits, a newer write of its key may become part of it. */
export interface QueuedWrite extends Operation {
  readonly target: WriteTarget;
  action: Operation["action"];
  value: unknown;
  readonly ifVersion?: number | undefined;
  /** The writes of one transaction; null for a write by itself. */
  readonly group: object | null;
  /** Requests between this write and the next one. */
  readonly requestsAfter: WaitingRequest[];
  /** One listener for each write that it contains. */
  readonly settled: ((outcome: Written | AtriumError) => void)[];
}

export const queuedWrite = (
  target: WriteTarget,
  { key, action, value, ifVersion }: FittedWrite,
  group: object | null,
): QueuedWrite => ({ key, action, value, ifVersion, target, group, requestsAfter: [], settled: [] });

interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly operations: readonly object[];
  readonly atomic: boolean;
  readonly bytes: number;
}

/** A batch with the id that it has until it is answered. */
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

  /** Seals the latest write: it stays as it is, and no later one overtakes it. */
  sealLatest(): QueuedWrite | undefined {
    this.#latest.clear();
    return this.#writes.at(-1);
  }

  /** Returns the write that contains the operation: a waiting one of the same key, or a new one. */
  add(target: WriteTarget, operation: FittedWrite): QueuedWrite {
    if (operation.ifVersion !== undefined || operation.signal) return this.#addApart(target, operation, null);
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

  addBatch(target: WriteTarget, operations: readonly FittedWrite[]): QueuedWrite[] {
    const group = {};
    return operations.map((operation) => this.#addApart(target, operation, group));
  }

  addFirst(writes: readonly QueuedWrite[]): void {
    this.#writes = [...writes, ...this.#writes]; // arguments have room for some 100,000 only
  }

  /** Adds a write that stays as it is and in its place. */
  #addApart(target: WriteTarget, operation: FittedWrite, group: object | null): QueuedWrite {
    this.#latest.clear();
    return this.#push(target, operation, group);
  }

  #push(target: WriteTarget, operation: FittedWrite, group: object | null): QueuedWrite {
    const write = queuedWrite(target, operation, group);
    this.#writes.push(write);
    return write;
  }

  /** Takes out writes that follow each other, with the requests behind them; null if they do not wait any more. */
  remove(writes: readonly QueuedWrite[]): WaitingRequest[] | null {
    const index = this.#writes.indexOf(writes[0] as QueuedWrite);
    if (index < 0) return null;
    const requests = this.#writes.splice(index, writes.length).flatMap(({ requestsAfter }) => requestsAfter);
    const before = this.#writes[index - 1];
    before?.requestsAfter.push(...requests);
    return before ? [] : requests;
  }

  /** Takes the next batch: one transaction, or as many single writes as fit, and at least one. */
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

  clear(): QueuedWrite[] {
    this.#latest.clear();
    return this.#writes.splice(0);
  }
}

const bytesOf = (operation: object): number => byteLength(JSON.stringify(operation));

const idOf = ({ name }: WriteTarget, { key }: Operation): string => `${name.length} ${name}${key}`;

/** The write that replaces both; null if only the later one may be refused. */
export function mergeOperations(earlier: Operation, later: Operation): Operation | null {
  if (later.action !== "update") return later;
  if (earlier.action === "delete") return { ...later, action: "set" };
  if (!isRecord(earlier.value) || !isRecord(later.value)) return null;
  return { ...earlier, value: { ...earlier.value, ...later.value } };
}

/** Follows the stores and the queue of one client. None of its functions throws, and no promise is rejected. */
export interface StorePersistence {
  /** Settles when everything that was kept is shown, or cannot be read. */
  readonly shown: Promise<void>;
  /** Settles with `shown`, or earlier on a slow device. */
  readonly opened: Promise<void>;
  /** The room's entry of a key may have changed or, without a key, the whole store was loaded. */
  confirmed(store: string, key?: string): void;
  /** A write was added to the queue, or has changed there. */
  queued(write: QueuedWrite): void;
  /** Settles, in order of the batches, when the batch is kept with its id. */
  sealed(batch: KeptBatch): Promise<void>;
  /** Begins to store at once, because the page may end. Returns whether anything can be stored. */
  flush(): boolean;
  settled(write: QueuedWrite, outcome: Written | AtriumError): void;
  /** The connection has ended for good. Returns whether the writes that are not answered stay kept. */
  stopped(fault: Fault): boolean;
}
