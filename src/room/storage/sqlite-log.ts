/** The log of changes, their epochs, and the receipts of requests in SQLite. */

import { RESTORED_SEQ } from "../../platform/objects/object-tables.ts";
import type { ChangeEvent } from "../protocol/protocol.ts";
import { LIMIT, SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

/** A change as it is logged; `data` is JSON. */
interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
}

export interface EntryAddress {
  readonly store: string;
  readonly key: string;
}

/** The earlier change that a new one replaces: the log keeps the latest of each entry. */
type Replaced =
  | { readonly seq: number }
  /** The change that deleted the entry, if it is kept. */
  | { readonly deletionOf: EntryAddress };

interface NewChange extends LoggedChange {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly size: number;
  readonly replaces: Replaced | null;
  /** The deleted entry, whose address finds the change; null for other changes. */
  readonly deletes: EntryAddress | null;
}

export interface LogTotals {
  /** The latest change that was dropped by age or size; 0 for none. */
  readonly droppedSeq: number;
  readonly changes: number;
  readonly bytes: number;
  /** Whether earlier changes of an entry stay beside its latest. */
  readonly keepsEvery: boolean;
}

/** A change with its time (epoch ms). */
type TimedChange = LoggedChange & Pick<NewChange, "at">;

type KeptChange = { seq: number; size: number };

type TotalsRow = Record<"changes" | "bytes" | "keepsEvery", number>;

const EMPTY: TotalsRow = { changes: 0, bytes: 0, keepsEvery: 0 };

/** The name of the fact that the log keeps every change. */
const EVERY_CHANGE = "every change";

const COLUMNS = "(seq, at, event, data, size, store, key)";

export class SqliteChanges extends SqlitePart {
  lastSeq(): number {
    return this.nextNumber("changes", "seq") - 1;
  }

  /** The room was restored: numbers up to this one may be known outside, also of changes that it lost. */
  writeRestoredSeq(seq: number): void {
    this.tables.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", RESTORED_SEQ, `${seq}`);
  }

  /** 0 for a room that was never restored. */
  restoredSeq(): number {
    const query = "SELECT CAST(value AS INTEGER) AS seq FROM facts WHERE name = ?";
    return this.tables.find<{ seq: number }>(query, RESTORED_SEQ)?.seq ?? 0;
  }

  /** Later changes have numbers above this one, also once its row is dropped. */
  keepCount(seq: number): void {
    this.retire("changes", seq);
  }

  /** Later changes have numbers that a restore has left unknown. */
  skipRestored(): void {
    const seq = this.restoredSeq();
    if (seq > 0) this.keepCount(seq);
  }

  /** Returns the size of the replaced change, whose row it takes: deleting and inserting would write one row more. */
  append({ seq, at, event, data, size, replaces, deletes }: NewChange): number | null {
    const replaced = replaces === null ? null : this.#find(replaces);
    const row = [seq, at, event, data, size, deletes?.store ?? null, deletes?.key ?? null];
    if (replaced === null)
      this.tables.write(`INSERT INTO changes ${COLUMNS} VALUES (?, ?, ?, ?, ?, ?, ?)`, ...row);
    else
      this.tables.write(
        `UPDATE changes SET ${COLUMNS} = (?, ?, ?, ?, ?, ?, ?) WHERE seq = ?`,
        ...row,
        replaced.seq,
      );
    return replaced?.size ?? null;
  }

  #find(change: Replaced): KeptChange | null {
    if ("seq" in change)
      return this.tables.find<KeptChange>("SELECT seq, size FROM changes WHERE seq = ?", change.seq);
    const query = "SELECT seq, size FROM changes WHERE store = ? AND key = ?";
    return this.tables.find<KeptChange>(query, change.deletionOf.store, change.deletionOf.key);
  }

  /** The kept changes, oldest first, read as far as the caller iterates. */
  oldest(): Iterable<Pick<NewChange, "seq" | "at" | "size">> {
    return this.tables.scan<Pick<NewChange, "seq" | "at" | "size">>(
      "SELECT seq, at, size FROM changes WHERE seq > ? ORDER BY seq",
      [0],
      ({ seq }) => [seq],
    );
  }

  /** Deletes the changes up to `seq`, and remembers it. */
  drop(seq: number): void {
    this.tables.write("DELETE FROM changes WHERE seq <= ?", seq);
    this.tables.write("INSERT OR REPLACE INTO dropped_changes VALUES (1, ?)", seq);
  }

  listAfter(seq: number): LoggedChange[] {
    return this.tables.read<LoggedChange>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq",
      seq,
    );
  }

  /** Changes of stores after `seq`, oldest first. */
  listOfStores(seq: number, limit: number): TimedChange[] {
    const query = `SELECT seq, at, event, data FROM changes
      WHERE seq > ? AND event = 'storeChanged' ORDER BY seq ${LIMIT}`;
    return this.tables.read<TimedChange>(query, seq, limit);
  }

  keepEvery(): void {
    this.tables.write(`INSERT OR REPLACE INTO facts VALUES ('${EVERY_CHANGE}', '1')`);
  }

  readDroppedSeq(): number {
    return this.tables.find<{ seq: number }>("SELECT up_to_seq AS seq FROM dropped_changes")?.seq ?? 0;
  }

  readTotals(): LogTotals {
    const query = `SELECT count(*) AS changes, ifnull(sum(size), 0) AS bytes,
      EXISTS (SELECT 1 FROM facts WHERE name = '${EVERY_CHANGE}') AS keepsEvery FROM changes`;
    const { changes, bytes, keepsEvery } = this.tables.find<TotalsRow>(query) ?? EMPTY;
    return { droppedSeq: this.readDroppedSeq(), changes, bytes, keepsEvery: keepsEvery === 1 };
  }
}

/** The epochs of the log: a new one begins when changes that clients received may have been taken back. */
export class SqliteEpochs extends SqlitePart {
  latest(): string | null {
    return this.tables.find<{ id: string }>("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")?.id ?? null;
  }

  /** Begins an epoch after the change `after`. Keeps the latest `limit` epochs. */
  begin(id: string, after: number, limit: number): void {
    this.tables.write("INSERT INTO epochs (id, after_seq) VALUES (?, ?)", id, after);
    this.tables.write("DELETE FROM epochs WHERE number <= (SELECT max(number) FROM epochs) - ?", limit);
  }

  /** The latest change when the epoch ended; Infinity while it lasts, null for an unknown one. */
  lastSeqOf(id: string): number | null {
    const query = `SELECT (SELECT min(after_seq) FROM epochs AS later WHERE later.number > epochs.number) AS seq
      FROM epochs WHERE id = ?`;
    const row = this.tables.find<{ seq: number | null }>(query, id);
    return row && (row.seq ?? Number.POSITIVE_INFINITY);
  }
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

/** The place of a receipt among those of its user; both numbers grow. */
export interface ReceiptPlace {
  readonly number: number;
  /** Running total of the sizes of the user's receipts. */
  readonly total: number;
}

/** A receipt as it is stored; `at` is when it was made (epoch ms). */
interface PlacedReceipt extends Receipt, ReceiptPlace {
  readonly at: number;
}

/** Receipts below one of these are deleted. */
type ReceiptBounds = Omit<PlacedReceipt, keyof Receipt>;

/** More users than write at once. Forgotten places are read again. */
const MAX_REMEMBERED = 2_000;

/** An index more would write a row more: other orders than the key's read all receipts of a user. */
export class SqliteReceipts extends SqlitePart {
  /** The places of the latest receipts of users who have written lately. */
  readonly #newest = new Map<string, ReceiptPlace>();
  #writtenAt = 0;

  constructor(tables: SqliteTables) {
    super(tables);
    tables.onUndone((writes) => {
      if (this.#writtenAt > writes) this.#newest.clear();
    });
  }

  find(userId: string, requestId: string): PlacedReceipt | null {
    const query = `SELECT user_id AS userId, request_id AS requestId, fingerprint, answer, number, total, at
      FROM receipts WHERE user_id = ? AND request_id = ?`;
    return this.tables.find<PlacedReceipt>(query, userId, requestId);
  }

  /** Replaces an earlier receipt of the same user and id. */
  insert({ userId, requestId, ...receipt }: PlacedReceipt): void {
    const { number, total } = receipt;
    this.tables.insert(
      "receipts",
      { user_id: userId, request_id: requestId, ...receipt },
      "INSERT OR REPLACE",
    );
    if (this.#newest.size >= MAX_REMEMBERED) this.#newest.clear();
    this.#newest.set(userId, { number, total });
    this.#writtenAt = this.tables.writes;
  }

  /** The place of the latest receipt, which may be deleted by now; null for none. */
  newest(userId: string): ReceiptPlace | null {
    return this.#newest.get(userId) ?? this.#readNewest(userId);
  }

  #readNewest(userId: string): ReceiptPlace | null {
    const query = "SELECT max(number) AS number, max(total) AS total FROM receipts WHERE user_id = ?";
    const row = this.tables.find<ReceiptPlace | { number: null; total: null }>(query, userId);
    return row === null || row.number === null ? null : row;
  }

  /** Deletes the receipts with a number below that of the bounds. */
  deleteBefore(userId: string, { number, total, at }: ReceiptBounds): void {
    const query = "DELETE FROM receipts WHERE user_id = ? AND (number < ? OR total < ? OR at < ?)";
    this.tables.write(query, userId, number, total, at);
  }

  /** Lists receipts of all users whose answer contains a text. */
  listNaming(text: string): Pick<Receipt, "userId" | "requestId" | "answer">[] {
    const query =
      "SELECT user_id AS userId, request_id AS requestId, answer FROM receipts WHERE instr(answer, ?) > 0";
    return this.tables.read<Pick<Receipt, "userId" | "requestId" | "answer">>(query, text);
  }

  rewrite({ userId, requestId, answer }: Pick<Receipt, "userId" | "requestId" | "answer">): void {
    const query = "UPDATE receipts SET answer = ? WHERE user_id = ? AND request_id = ?";
    this.tables.write(query, answer, userId, requestId);
  }

  deleteUser(userId: string): void {
    this.#newest.delete(userId);
    this.tables.write("DELETE FROM receipts WHERE user_id = ?", userId);
  }

  /** Deletes old receipts of the next user in the order of ids: over time, of all users who are gone. */
  deleteExpiredOfNext(userId: string, at: number): void {
    const query = `SELECT ifnull(
        (SELECT min(user_id) FROM receipts WHERE user_id > ?), (SELECT min(user_id) FROM receipts)) AS next`;
    const next = this.tables.find<{ next: string | null }>(query, userId)?.next ?? userId;
    if (next === userId) return;
    this.tables.write("DELETE FROM receipts WHERE user_id = ? AND at < ?", next, at);
  }
}
