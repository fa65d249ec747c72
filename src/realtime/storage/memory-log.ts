/** The log of changes, their epochs, and the receipts of requests in memory. */
import { MemoryPart } from "./memory-part.ts";
import type {
  ChangeLog,
  EpochTable,
  LoggedChange,
  LogTotals,
  NewChange,
  Receipt,
  ReceiptPlace,
  ReceiptTable,
} from "./storage-log.ts";

const NOTHING: LogTotals = { droppedSeq: 0, changes: 0, bytes: 0 };

interface Log {
  readonly changes: readonly NewChange[];
  readonly totals: LogTotals;
}

export class MemoryChanges extends MemoryPart<Log> implements ChangeLog {
  constructor() {
    super({ changes: [], totals: NOTHING });
  }

  lastSeq(): number {
    return this.state.changes.at(-1)?.seq ?? 0;
  }

  append(change: NewChange): number | null {
    if (change.seq <= this.lastSeq()) throw new Error(`Change ${change.seq} is already logged`);
    const { changes } = this.state;
    const replaced = changes.findIndex(({ entry }) => isSame(entry, change.entry));
    const kept = replaced === -1 ? changes : changes.toSpliced(replaced, 1);
    this.state = { ...this.state, changes: [...kept, change] };
    return changes[replaced]?.size ?? null;
  }

  oldest(): readonly NewChange[] {
    return this.state.changes;
  }

  drop(seq: number): void {
    this.state = { ...this.state, changes: this.state.changes.filter((change) => change.seq > seq) };
  }

  listAfter(after: number): LoggedChange[] {
    return this.state.changes.flatMap(({ seq, event, data }) => (seq > after ? { seq, event, data } : []));
  }

  readTotals(): LogTotals {
    return this.state.totals;
  }

  writeTotals(totals: LogTotals): void {
    this.state = { ...this.state, totals };
  }
}

const isSame = (a: NewChange["entry"], b: NewChange["entry"]): boolean =>
  a !== null && b !== null && a.store === b.store && a.key === b.key;

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

interface ReceiptRow extends Receipt, ReceiptPlace {
  readonly at: number;
}

/** Oldest first. */
export class MemoryReceipts extends MemoryPart<readonly ReceiptRow[]> implements ReceiptTable {
  constructor() {
    super([]);
  }

  find(userId: string, requestId: string): Receipt | null {
    const row = this.#of(userId).find((receipt) => receipt.requestId === requestId);
    if (row === undefined) return null;
    return { userId, requestId, fingerprint: row.fingerprint, answer: row.answer };
  }

  insert(receipt: Receipt, place: ReceiptPlace, at: number): void {
    const { userId, requestId } = receipt;
    const others = this.state.filter((row) => row.userId !== userId || row.requestId !== requestId);
    this.state = [...others, { ...receipt, ...place, at }];
  }

  newest(userId: string): ReceiptPlace | null {
    return placeOf(this.#of(userId).at(-1));
  }

  oldest(userId: string): ReceiptPlace | null {
    return placeOf(this.#of(userId)[0]);
  }

  deleteOldest(userId: string): void {
    const [oldest] = this.#of(userId);
    this.state = this.state.filter((row) => row !== oldest);
  }

  deleteUser(userId: string): void {
    this.state = this.state.filter((row) => row.userId !== userId);
  }

  deleteExpired(at: number, limit: number): void {
    this.state = this.state.filter((row, index) => index >= limit || row.at >= at);
  }

  #of(userId: string): readonly ReceiptRow[] {
    return this.state.filter((row) => row.userId === userId);
  }
}

const placeOf = (row: ReceiptRow | undefined): ReceiptPlace | null =>
  row === undefined ? null : { number: row.number, total: row.total };
