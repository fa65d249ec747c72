/** The log of changes and their epochs in memory. */

import type {
  ChangeLog,
  EpochTable,
  LoggedChange,
  LogTotals,
  NewChange,
  Replaced,
} from "../../../src/room/storage/storage-log.ts";
import { MemoryPart } from "./memory-part.ts";

interface Log {
  readonly changes: readonly NewChange[];
  readonly droppedSeq: number;
}

export class MemoryChanges extends MemoryPart<Log> implements ChangeLog {
  constructor() {
    super({ changes: [], droppedSeq: 0 });
  }

  lastSeq(): number {
    return this.state.changes.at(-1)?.seq ?? 0;
  }

  append(change: NewChange): number | null {
    if (change.seq <= this.lastSeq()) throw new Error(`Change ${change.seq} is already logged`);
    const { changes } = this.state;
    const replaced = changes.findIndex((kept) => isReplaced(kept, change.replaces));
    const kept = replaced === -1 ? changes : changes.toSpliced(replaced, 1);
    this.state = { ...this.state, changes: [...kept, change] };
    return changes[replaced]?.size ?? null;
  }

  oldest(): readonly NewChange[] {
    return this.state.changes;
  }

  drop(seq: number): void {
    const changes = this.state.changes.filter((change) => change.seq > seq);
    this.state = { ...this.state, changes, droppedSeq: seq };
  }

  listAfter(after: number): LoggedChange[] {
    return this.state.changes.flatMap(({ seq, event, data }) => (seq > after ? { seq, event, data } : []));
  }

  readDroppedSeq(): number {
    return this.state.droppedSeq;
  }

  readTotals(): LogTotals {
    const { changes, droppedSeq } = this.state;
    return { droppedSeq, changes: changes.length, bytes: changes.reduce((sum, { size }) => sum + size, 0) };
  }
}

function isReplaced({ seq, deletes }: NewChange, by: Replaced | null): boolean {
  if (by === null) return false;
  if ("seq" in by) return seq === by.seq;
  const { store, key } = by.deletionOf;
  return deletes !== null && deletes.store === store && deletes.key === key;
}

/** Oldest first. */
export class MemoryEpochs
  extends MemoryPart<readonly { readonly id: string; readonly after: number }[]>
  implements EpochTable
{
  constructor() {
    super([]);
  }

  latest(): string | null {
    return this.state.at(-1)?.id ?? null;
  }

  begin(id: string, after: number, limit: number): void {
    if (this.state.some((epoch) => epoch.id === id)) throw new Error(`Epoch ${id} has already begun`);
    this.state = [...this.state, { id, after }].slice(-limit);
  }

  lastSeqOf(id: string): number | null {
    const index = this.state.findIndex((epoch) => epoch.id === id);
    return index < 0 ? null : (this.state[index + 1]?.after ?? Number.POSITIVE_INFINITY);
  }
}
