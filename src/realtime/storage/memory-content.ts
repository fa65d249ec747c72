/** A room's lasting content in memory. Rows are replaced, never mutated, so that copies are snapshots. */
import type {
  ChangeLog,
  CommentFilter,
  CommentTable,
  EntryTable,
  FollowTable,
  LoggedChange,
  OldestChange,
  Receipt,
  StoredComment,
  StoredEntry,
  StoreSize,
} from "./storage-content.ts";

interface ChangeRow extends LoggedChange {
  readonly at: number;
  readonly receipt: Receipt | null;
}

export class MemoryChanges implements ChangeLog {
  #rows: ChangeRow[] = [];

  snapshot(): () => void {
    const rows = [...this.#rows];
    return () => {
      this.#rows = rows;
    };
  }

  clear(): void {
    this.#rows = [];
  }

  lastSeq(): number {
    return this.#rows.at(-1)?.seq ?? 0;
  }

  append(change: LoggedChange, at: number): void {
    if (change.seq <= this.lastSeq()) throw new Error(`Change ${change.seq} is already logged`);
    this.#rows.push({ ...change, at, receipt: null });
  }

  oldest(): OldestChange | null {
    const row = this.#rows[0];
    return row === undefined ? null : { seq: row.seq, at: row.at };
  }

  firstSince(at: number): number | null {
    return this.#rows.find((row) => row.at >= at)?.seq ?? null;
  }

  prune(seq: number): void {
    this.#rows = this.#rows.filter((row) => row.seq >= seq);
  }

  sizeAfter(seq: number): number {
    return this.listAfter(seq).reduce((size, { data }) => size + data.length, 0);
  }

  listAfter(seq: number): LoggedChange[] {
    return this.#rows.filter((row) => row.seq > seq).map(({ at: _, receipt: __, ...change }) => change);
  }

  writeReceipt(seq: number, receipt: Receipt): void {
    const isSame = (other: Receipt | null) =>
      other?.userId === receipt.userId && other.requestId === receipt.requestId;
    this.#rows = this.#rows.map((row) => {
      if (row.seq === seq) return { ...row, receipt };
      return isSame(row.receipt) ? { ...row, receipt: null } : row;
    });
  }

  findReceipt(userId: string, requestId: string): Receipt | null {
    const found = this.#rows.find(
      ({ receipt }) => receipt?.userId === userId && receipt.requestId === requestId,
    );
    return found?.receipt ?? null;
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class MemoryEntries implements EntryTable {
  #stores = new Map<string, ReadonlyMap<string, StoredEntry>>();
  #sizes = new Map<string, StoreSize>();

  snapshot(): () => void {
    const [stores, sizes] = [new Map(this.#stores), new Map(this.#sizes)];
    return () => {
      this.#stores = stores;
      this.#sizes = sizes;
    };
  }

  clear(): void {
    this.#stores.clear();
    this.#sizes.clear();
  }

  find(store: string, key: string): StoredEntry | null {
    return this.#stores.get(store)?.get(key) ?? null;
  }

  list(store: string): StoredEntry[] {
    return [...(this.#stores.get(store)?.values() ?? [])].sort((a, b) => byText(a.key, b.key));
  }

  write(store: string, entry: StoredEntry): void {
    this.#stores.set(store, new Map(this.#stores.get(store)).set(entry.key, entry));
  }

  delete(store: string, key: string): void {
    const entries = new Map(this.#stores.get(store));
    entries.delete(key);
    this.#stores.set(store, entries);
  }

  size(store: string): StoreSize {
    return this.#sizes.get(store) ?? { entries: 0, bytes: 0 };
  }

  writeSize(store: string, size: StoreSize): void {
    if (size.entries === 0) this.#sizes.delete(store);
    else this.#sizes.set(store, size);
  }

  listStores(): (StoreSize & { readonly name: string })[] {
    return [...this.#sizes].map(([name, size]) => ({ name, ...size })).sort((a, b) => byText(a.name, b.name));
  }
}

export class MemoryComments implements CommentTable {
  #rows: StoredComment[] = [];

  snapshot(): () => void {
    const rows = [...this.#rows];
    return () => {
      this.#rows = rows;
    };
  }

  clear(): void {
    this.#rows = [];
  }

  find(id: string): StoredComment | null {
    return this.#rows.find((row) => row.id === id) ?? null;
  }

  insert(comment: StoredComment): void {
    this.#rows.push(comment);
  }

  update(comment: StoredComment): void {
    this.#rows = this.#rows.map((row) => (row.id === comment.id ? comment : row));
  }

  delete(id: string): void {
    this.#rows = this.#rows.filter((row) => row.id !== id);
  }

  count(filter: CommentFilter): number {
    return this.#matching(filter).length;
  }

  list(filter: CommentFilter, limit: number, offset: number): StoredComment[] {
    return this.#matching(filter).slice(offset, offset + limit);
  }

  #matching({ threadId, resolved }: CommentFilter): StoredComment[] {
    return this.#rows.filter(
      (row) =>
        (threadId === null || row.threadId === threadId) && (resolved === null || row.resolved === resolved),
    );
  }
}

export class MemoryFollows implements FollowTable {
  #pairs: (readonly [string, string])[] = [];

  snapshot(): () => void {
    const pairs = [...this.#pairs];
    return () => {
      this.#pairs = pairs;
    };
  }

  clear(): void {
    this.#pairs = [];
  }

  has(follower: string, followed: string): boolean {
    return this.#pairs.some((pair) => pair[0] === follower && pair[1] === followed);
  }

  insert(follower: string, followed: string): void {
    if (this.has(follower, followed)) throw new Error("This user is followed already");
    this.#pairs.push([follower, followed]);
  }

  delete(follower: string, followed: string): void {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== follower || pair[1] !== followed);
  }

  listFollowed(follower: string): string[] {
    return this.#pairs.filter((pair) => pair[0] === follower).map((pair) => pair[1]);
  }

  list(): (readonly [string, string])[] {
    return [...this.#pairs];
  }

  deleteUser(userId: string): void {
    this.#pairs = this.#pairs.filter((pair) => !pair.includes(userId));
  }
}
