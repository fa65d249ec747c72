/** The writes that wait to be sent: writes of one key supersede each other, and batches are taken from the front. */
import { byteLength } from "../../core/json.ts";
import type { Operation } from "./entries.ts";
import { mergeOperations } from "./merge.ts";
import { type FittedWrite, operationOf, type Written } from "./writes.ts";

/** The most operations that the room takes in one batch. */
const MAX_OPERATIONS = 500;

/** Where the outcome of a write goes. */
export interface Waiter {
  resolve(written: Written): void;
  reject(error: unknown): void;
}

/** The store that a write is for. */
export interface WriteTarget {
  readonly name: string;
  /** Some of its writes were answered, or have failed. */
  settle(writes: readonly QueuedWrite[], isRefused: boolean): void;
}

/** A write without a response. While it waits, a newer write of its key may become part of it. */
export class QueuedWrite implements Operation {
  readonly target: WriteTarget;
  readonly key: string;
  readonly ifVersion: number | undefined;
  action: Operation["action"];
  value: unknown;
  readonly waiters: Waiter[] = [];

  constructor(target: WriteTarget, { key, action, value, ifVersion }: FittedWrite) {
    this.target = target;
    this.key = key;
    this.action = action;
    this.value = value;
    this.ifVersion = ifVersion;
  }
}

/** Writes that are sent together; those that are not atomic succeed or fail by themselves. */
export interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly atomic: boolean;
  readonly bytes: number;
  readonly operations: readonly object[];
}

type LatestWrites = Map<string, QueuedWrite>;

interface Group {
  readonly atomic: boolean;
  writes: QueuedWrite[];
  /** The latest write of each key, which a newer one supersedes; null for a group that stays as it is. */
  readonly latest: LatestWrites | null;
}

export class WaitingWrites {
  #groups: Group[] = [];

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** Adds a write. Returns the write that contains it: a waiting one of the same key, or a new one. */
  add(target: WriteTarget, operation: FittedWrite): QueuedWrite {
    const write = new QueuedWrite(target, operation);
    if (operation.ifVersion !== undefined) {
      this.#groups.push({ atomic: false, writes: [write], latest: null });
      return write;
    }
    const { latest, writes } = this.#openGroup();
    const id = idOf(write);
    const earlier = latest.get(id);
    const merged = earlier === undefined ? null : mergeOperations(earlier, operation);
    if (earlier !== undefined && merged !== null) {
      earlier.action = merged.action;
      earlier.value = merged.value;
      return earlier;
    }
    latest.set(id, write);
    writes.push(write);
    return write;
  }

  /** Adds writes that stay as they are and take effect together. */
  addBatch(target: WriteTarget, operations: readonly FittedWrite[]): QueuedWrite[] {
    const writes = operations.map((operation) => new QueuedWrite(target, operation));
    this.#groups.push({ atomic: true, writes, latest: null });
    return writes;
  }

  /** The last group, if writes can become part of its writes, or a new one. */
  #openGroup(): { readonly latest: LatestWrites; readonly writes: QueuedWrite[] } {
    const last = this.#groups.at(-1);
    if (last !== undefined && last.latest !== null) return { latest: last.latest, writes: last.writes };
    const group = { atomic: false, writes: [], latest: new Map() };
    this.#groups.push(group);
    return group;
  }

  /** Takes the next batch from the front, with one write or as many as fit. Null if nothing waits. */
  take(maxBytes: number): Batch | null {
    const atomic = this.#groups[0]?.atomic;
    if (atomic === undefined) return null;
    const batch = { writes: [] as QueuedWrite[], operations: [] as object[], atomic, bytes: 0 };
    for (let group = this.#groups[0]; group?.atomic === atomic; group = this.#groups[0]) {
      const taken = fill(batch, group.writes, maxBytes);
      for (const write of taken)
        if (group.latest?.get(idOf(write)) === write) group.latest.delete(idOf(write));
      group.writes = group.writes.slice(taken.length);
      if (group.writes.length > 0) break;
      this.#groups.shift();
      if (atomic) break;
    }
    return batch;
  }

  /** Takes out everything that waits, without sending it. */
  clear(): QueuedWrite[] {
    const writes = this.#groups.flatMap((group) => group.writes);
    this.#groups = [];
    return writes;
  }
}

/** Adds writes to a batch until it is full: one always fits, and an atomic batch is not divided. Returns those added. */
function fill(
  batch: {
    readonly writes: QueuedWrite[];
    readonly operations: object[];
    readonly atomic: boolean;
    bytes: number;
  },
  writes: readonly QueuedWrite[],
  maxBytes: number,
): QueuedWrite[] {
  const taken: QueuedWrite[] = [];
  for (const write of writes) {
    const operation = operationOf(write.target.name, write);
    const bytes = byteLength(JSON.stringify(operation));
    const isFull = batch.writes.length >= MAX_OPERATIONS || batch.bytes + bytes > maxBytes;
    if (isFull && !batch.atomic && batch.writes.length > 0) break;
    batch.bytes += bytes;
    batch.writes.push(write);
    batch.operations.push(operation);
    taken.push(write);
  }
  return taken;
}

/** Identifies a key of a store. */
const idOf = ({ target: { name }, key }: QueuedWrite): string => `${name.length} ${name}${key}`;
