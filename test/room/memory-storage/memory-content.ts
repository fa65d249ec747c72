/** A room's stores, comments and follows in memory. */
import { byteLength } from "../../../src/platform/text.ts";
import { compareKeys } from "../../../src/room/storage/key-order.ts";
import type {
  CommentFilter,
  CommentPart,
  CommentTable,
  CommentTotals,
  EntryTable,
  EntryText,
  FollowTable,
  PlacedComment,
  StoredComment,
  StoredEntry,
  StoreSize,
  StoreTotals,
} from "../../../src/room/storage/storage-content.ts";
import { MemoryPart } from "./memory-part.ts";

interface Stores {
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, StoredEntry>>;
  readonly sizes: ReadonlyMap<string, StoreSize>;
}

const encoder = new TextEncoder();

export class MemoryEntries extends MemoryPart<Stores> implements EntryTable {
  constructor() {
    super({ entries: new Map(), sizes: new Map() });
  }

  find(store: string, key: string): StoredEntry | null {
    return this.state.entries.get(store)?.get(key) ?? null;
  }

  scan(store: string, after: string | null): Iterable<StoredEntry> {
    const entries = [...(this.state.entries.get(store)?.values() ?? [])];
    return entries
      .filter(({ key }) => after === null || compareKeys(key, after) > 0)
      .sort((a, b) => compareKeys(a.key, b.key));
  }

  *scanText(store: string, after: string | null): Generator<EntryText> {
    for (const { key, value, version } of this.scan(store, after))
      yield { items: encoder.encode(`,${JSON.stringify(key)},${value},${version}`), lastKey: key };
  }

  write(store: string, entry: StoredEntry): void {
    this.#change(store, (entries) => entries.set(entry.key, entry));
  }

  delete(store: string, key: string): void {
    this.#change(store, (entries) => entries.delete(key));
  }

  #change(store: string, change: (entries: Map<string, StoredEntry>) => void): void {
    const entries = new Map(this.state.entries.get(store));
    change(entries);
    this.state = { ...this.state, entries: new Map(this.state.entries).set(store, entries) };
  }

  size(store: string): StoreSize {
    return this.state.sizes.get(store) ?? { entries: 0, bytes: 0 };
  }

  writeSize(store: string, size: StoreSize): void {
    const sizes = new Map(this.state.sizes);
    if (size.entries === 0) sizes.delete(store);
    else sizes.set(store, size);
    this.state = { ...this.state, sizes };
  }

  totals(): StoreTotals {
    const sizes = [...this.state.sizes.values()];
    return { stores: sizes.length, bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  listStores(): (StoreSize & { readonly name: string })[] {
    const { sizes } = this.state;
    return [...sizes].map(([name, size]) => ({ name, ...size })).sort((a, b) => compareKeys(a.name, b.name));
  }
}

interface PlacedComments {
  /** The highest position that was ever given. */
  readonly last: number;
  readonly rows: readonly PlacedComment[];
}

export class MemoryComments extends MemoryPart<PlacedComments> implements CommentTable {
  constructor() {
    super({ last: 0, rows: [] });
  }

  find(id: string): StoredComment | null {
    return this.state.rows.find((row) => row.id === id) ?? null;
  }

  insert(comment: StoredComment): void {
    const position = this.state.last + 1;
    this.state = { last: position, rows: [...this.state.rows, { ...comment, position }] };
  }

  update(comment: StoredComment): void {
    const rows = this.state.rows.map((row) => (row.id === comment.id ? { ...row, ...comment } : row));
    this.state = { ...this.state, rows };
  }

  delete(id: string): void {
    this.state = { ...this.state, rows: this.state.rows.filter((row) => row.id !== id) };
  }

  hasThread(threadId: string): boolean {
    return this.count({ threadId, resolved: null }) > 0;
  }

  count(filter: CommentFilter): number {
    return this.#matching(filter).length;
  }

  totals(): CommentTotals {
    const bytes = this.state.rows.reduce((sum, { comment }) => sum + byteLength(comment), 0);
    return { comments: this.state.rows.length, bytes };
  }

  list(filter: CommentFilter, { after, limit, offset = 0 }: CommentPart): PlacedComment[] {
    return this.#matching(filter)
      .filter(({ position }) => position > after)
      .slice(offset, offset + limit);
  }

  #matching({ threadId, resolved }: CommentFilter): PlacedComment[] {
    return this.state.rows.filter(
      (row) =>
        (threadId === null || row.threadId === threadId) && (resolved === null || row.resolved === resolved),
    );
  }
}

export class MemoryFollows extends MemoryPart<readonly (readonly [string, string])[]> implements FollowTable {
  constructor() {
    super([]);
  }

  has(follower: string, followed: string): boolean {
    return this.state.some((pair) => pair[0] === follower && pair[1] === followed);
  }

  insert(follower: string, followed: string): void {
    if (this.has(follower, followed)) throw new Error("This user is followed already");
    this.state = [...this.state, [follower, followed]];
  }

  delete(follower: string, followed: string): void {
    this.state = this.state.filter((pair) => pair[0] !== follower || pair[1] !== followed);
  }

  listFollowed(follower: string): string[] {
    return this.state.filter((pair) => pair[0] === follower).map((pair) => pair[1]);
  }

  listOf(followers: readonly string[]): (readonly [string, string])[] {
    const wanted = new Set(followers);
    return this.state.filter(([follower]) => wanted.has(follower));
  }

  list(limit: number | null): (readonly [string, string])[] {
    return this.state.slice(0, limit ?? undefined);
  }

  deleteUser(userId: string): void {
    this.state = this.state.filter((pair) => !pair.includes(userId));
  }
}
