/**
 * The journal of a room: all that a transaction has to keep of changes, entries, sizes of stores and receipts is
 * appended to one row. These records are in memory as well, and put in their places later, many at once: a row that is
 * written costs a thousand times what reading it costs.
 */
import type { ChangeEvent } from "../protocol/protocol.ts";
import { SqlitePart, type SqliteTables, StagedWrites } from "./sqlite-tables.ts";

export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
}

/** A change as it is logged; `data` is JSON. */
export interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The entry that the change is about; null for other changes. */
  readonly entry: EntryAddress | null;
}

export interface EntryAddress {
  readonly store: string;
  readonly key: string;
}

/** The place of a receipt among those of its user; both numbers grow. */
export interface ReceiptPlace {
  readonly number: number;
  /** Running total of the sizes of the user's receipts. */
  readonly total: number;
}

/** The remembered result of a request that made changes. */
export interface Receipt {
  /** The user who sent the request, or a name that no user has. */
  readonly userId: string;
  readonly requestId: string;
  /** Distinguishes the request from another one with the same id. */
  readonly fingerprint: string;
  /** `data` of the response, as JSON. */
  readonly answer: string;
}

/** A receipt as it is stored; `at` is when it was made (epoch ms). */
export interface PlacedReceipt extends Receipt, ReceiptPlace {
  readonly at: number;
}

/** A change as a record; its last part is what `data` of {@link LoggedChange} is the JSON of. */
export type ChangeRecord = readonly [seq: number, at: number, event: ChangeEvent, data: object];

type JournalRecord =
  | ChangeRecord
  | readonly ["size", store: string, entries: number, bytes: number]
  | readonly [
      "receipt",
      ...(readonly [userId: string, requestId: string, fingerprint: string]),
      ...(readonly [number: number, total: number, at: number, answer: unknown]),
    ];

/** The `data` of a change of a store. */
interface StoreChange extends EntryAddress {
  readonly action: string;
  readonly value: unknown;
  readonly version: number;
}

/** The entry that a change is about; null for other changes. */
export function addressOf(event: ChangeEvent, data: object): EntryAddress | null {
  if (event !== "storeChanged") return null;
  const { store, key } = data as StoreChange;
  return { store, key };
}

/** A change as the JSON of its record. */
export const recordOf = ({ seq, at, event, data }: LoggedChange): string =>
  `[${seq},${at},"${event}",${data}]`;

/** The records that are not in their places yet, in the order of their writing. */
interface Unfolded {
  readonly changes: LoggedChange[];
  /** The latest state of entries by store and key; null for a deleted one. */
  readonly entries: Map<string, Map<string, StoredEntry | null>>;
  readonly sizes: Map<string, StoreSize>;
  /** By user and the ID of the request. */
  readonly receipts: Map<string, Map<string, PlacedReceipt>>;
  /** The places of the latest receipts by user. */
  readonly newest: Map<string, ReceiptPlace>;
  length: number;
  /** The row that is written last, and its length; null without rows. */
  row: { readonly number: number; readonly length: number } | null;
}

/** A row of SQLite grows in place up to this length: a page holds it, and few rows are to be deleted later. */
const ROW_LENGTH = 2 * 1024;
/** Longest row of several records. */
const MAX_ROW_LENGTH = 64 * 1024;
/** The longest journal: read again after hibernation, and put in its places within some milliseconds. */
const MAX_LENGTH = 256 * 1024;
const MAX_CHANGES = 1_024;

/** Puts the records in their places, in a transaction. */
type Fold = (unfolded: Pick<Unfolded, "changes" | "entries" | "sizes" | "receipts">) => void;

export class SqliteJournal extends SqlitePart {
  #unfolded: Unfolded | null = null;
  /** The writes that the memory knows of. */
  #knownAt = 0;
  /** The records of transactions that are not over, as text. */
  readonly #staged: StagedWrites<string>;
  readonly #folds: Fold[] = [];

  constructor(tables: SqliteTables) {
    super(tables);
    this.#staged = new StagedWrites(tables, (texts) => this.#write(texts));
    tables.onUndone((writes) => {
      if (this.#knownAt > writes) this.#unfolded = null;
    });
  }

  /** Calls `fold` whenever records are to be put in their places. */
  onFold(fold: Fold): void {
    this.#folds.push(fold);
  }

  get unfolded(): Unfolded {
    this.#unfolded ??= this.#read();
    return this.#unfolded;
  }

  #read(): Unfolded {
    const rows = this.tables.read<{ number: number; data: string }>(
      "SELECT number, data FROM journal ORDER BY number",
    );
    const last = rows.at(-1);
    const unfolded: Unfolded = {
      changes: [],
      entries: new Map(),
      sizes: new Map(),
      receipts: new Map(),
      newest: new Map(),
      length: rows.reduce((sum, { data }) => sum + data.length, 0),
      row: last === undefined ? null : { number: last.number, length: last.data.length },
    };
    for (const { data } of rows)
      for (const record of JSON.parse(`[${data}]`) as JournalRecord[]) replay(unfolded, record);
    this.#knownAt = this.tables.writes;
    return unfolded;
  }

  /** Appends a change. If it is of an entry, `stored` is its state afterwards; null when it is deleted. */
  appendChange(change: LoggedChange, stored: StoredEntry | null): void {
    this.#stage(recordOf(change), ({ changes, entries }) => {
      const { entry } = change;
      const undo = entry === null ? () => {} : put(of(entries, entry.store), entry.key, stored);
      changes.push(change);
      return () => {
        changes.pop();
        undo();
      };
    });
  }

  writeSize(store: string, size: StoreSize): void {
    const text = JSON.stringify(["size", store, size.entries, size.bytes] satisfies JournalRecord);
    this.#stage(text, ({ sizes }) => put(sizes, store, size));
  }

  /** Replaces an earlier receipt of the same user and id. */
  appendReceipt(receipt: PlacedReceipt): void {
    const { userId, requestId, fingerprint, number, total, at, answer } = receipt;
    const fields = JSON.stringify(["receipt", userId, requestId, fingerprint, number, total, at]);
    this.#stage(`${fields.slice(0, -1)},${answer}]`, ({ receipts, newest }) => {
      const undos = [put(of(receipts, userId), requestId, receipt), put(newest, userId, receipt)];
      return () => {
        for (const undo of undos) undo();
      };
    });
  }

  #stage(text: string, remember: (unfolded: Unfolded) => () => void): void {
    this.#staged.add(text, () => remember(this.unfolded));
  }

  #write(texts: readonly string[]): void {
    const { unfolded } = this;
    for (const { text } of inRows(texts, (text) => text, MAX_ROW_LENGTH)) this.#writeText(unfolded, text);
    if (unfolded.length > MAX_LENGTH || unfolded.changes.length > MAX_CHANGES) this.#fold();
  }

  #writeText(unfolded: Unfolded, text: string): void {
    const { row } = unfolded;
    if (row !== null && row.length + text.length < ROW_LENGTH) {
      this.tables.write("UPDATE journal SET data = data || ',' || ? WHERE number = ?", text, row.number);
      unfolded.row = { number: row.number, length: row.length + 1 + text.length };
    } else {
      const number = (row?.number ?? 0) + 1;
      this.tables.insert("journal", { number, data: text });
      unfolded.row = { number, length: text.length };
    }
    unfolded.length += text.length;
    this.#knownAt = this.tables.writes;
  }

  /** Puts all records in their places, for a reader who wants more than one of them. */
  fold(): void {
    if (this.unfolded.row === null && this.#staged.isEmpty) return;
    this.tables.transaction(() => {
      this.#staged.write();
      if (this.unfolded.row !== null) this.#fold();
    });
  }

  #fold(): void {
    const { unfolded } = this;
    for (const fold of this.#folds) fold(unfolded);
    this.tables.write("DELETE FROM journal");
    this.#unfolded = null;
    this.#knownAt = this.tables.writes;
  }
}

function of<Value>(maps: Map<string, Map<string, Value>>, name: string): Map<string, Value> {
  const found = maps.get(name) ?? new Map<string, Value>();
  maps.set(name, found);
  return found;
}

/** Sets a value behind all others, and returns how to undo that. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): () => void {
  const before = map.get(key);
  map.delete(key);
  map.set(key, value);
  return () => {
    if (before === undefined) map.delete(key);
    else map.set(key, before);
  };
}

/** Remembers a record as it was remembered when it was written. */
function replay({ changes, entries, sizes, receipts, newest }: Unfolded, record: JournalRecord): void {
  switch (record[0]) {
    case "size":
      sizes.set(record[1], { entries: record[2], bytes: record[3] });
      return;
    case "receipt": {
      const [, userId, requestId, fingerprint, number, total, at, answer] = record;
      const receipt = { userId, requestId, fingerprint, number, total, at, answer: JSON.stringify(answer) };
      put(of(receipts, userId), requestId, receipt);
      newest.set(userId, receipt);
      return;
    }
    default: {
      const [seq, at, event, data] = record;
      const entry = addressOf(event, data);
      changes.push({ seq, at, event, data: JSON.stringify(data), entry });
      if (entry === null) return;
      const { key, action, value, version } = data as StoreChange;
      const stored = action === "delete" ? null : { key, value: JSON.stringify(value), version };
      put(of(entries, entry.store), key, stored);
    }
  }
}

interface TextRow<Item> {
  readonly items: readonly Item[];
  /** The texts of the items, with commas between them. */
  readonly text: string;
}

/** Items in rows of at most `length` characters, or of one item. */
export function inRows<Item>(
  items: Iterable<Item>,
  textOf: (item: Item) => string,
  length: number,
): TextRow<Item>[] {
  const rows: { items: Item[]; text: string }[] = [];
  for (const item of items) {
    const text = textOf(item);
    const last = rows.at(-1);
    if (last === undefined || last.text.length + text.length >= length) rows.push({ items: [item], text });
    else {
      last.items.push(item);
      last.text += `,${text}`;
    }
  }
  return rows;
}
