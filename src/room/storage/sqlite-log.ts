/** The log of changes, their epochs, and the receipts of requests in SQLite. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { RESTORED_SEQ } from "../../platform/objects/object-tables.ts";
import {
  addressOf,
  type ChangeRecord,
  inRows,
  type LoggedChange,
  type PlacedReceipt,
  type Receipt,
  type ReceiptPlace,
  recordOf,
  type SqliteJournal,
  type StoredEntry,
} from "./sqlite-journal.ts";
import { SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

/** Consecutive changes of the log. */
interface LogBlock {
  readonly seq: number;
  readonly length: number;
}

/** The name of the fact that the log keeps every change. */
const EVERY_CHANGE = "every change";

/** Rows of the log grow up to this length. */
const BLOCK_LENGTH = 32 * 1024;
/** The same for receipts: a fold may write a row of each of a thousand users. */
const RECEIPTS_LENGTH = 4 * 1024;

/** The changes, in blocks: the journal's are put behind them, of each entry the latest. */
export class SqliteChanges extends SqlitePart {
  readonly #journal: SqliteJournal;

  constructor(tables: SqliteTables, journal: SqliteJournal) {
    super(tables);
    this.#journal = journal;
    journal.onFold(({ changes }) => this.#fold(changes));
  }

  lastSeq(): number {
    return this.#journal.unfolded.changes.at(-1)?.seq ?? this.nextNumber("log", "last_seq") - 1;
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

  /** Later changes have numbers that a restore has left unknown. */
  skipRestored(): void {
    const seq = this.restoredSeq();
    if (seq === 0) return;
    this.#journal.fold();
    this.retire("log", seq);
  }

  /** Logs a change. A change of a store has the state of its entry afterwards; null when it is deleted. */
  append(change: LoggedChange, entry: StoredEntry | null): void {
    this.#journal.appendChange(change, entry);
  }

  #fold(changes: readonly LoggedChange[]): void {
    const latest = changes.at(-1);
    if (latest === undefined) return;
    const expiredBefore = latest.at - LIMITS.changeLifetimeMs;
    const isExpired = ({ at }: LoggedChange) => at < expiredBefore;
    const query = "SELECT ifnull(max(last_seq), 0) AS seq FROM log WHERE at < ?";
    const droppedSeq =
      changes.findLast(isExpired)?.seq ?? this.tables.find<{ seq: number }>(query, expiredBefore)?.seq ?? 0;
    if (droppedSeq > 0) {
      this.tables.write("DELETE FROM log WHERE at < ?", expiredBefore);
      this.#writeDropped(droppedSeq);
    }
    this.#append(this.#latestOf(changes.filter((change) => !isExpired(change))));
    const { count, bytes } = this.#totals();
    if (count > 2 * LIMITS.keptChanges || bytes > 2 * LIMITS.catchUpBytes) this.#compact();
  }

  #append(changes: readonly LoggedChange[]): void {
    const rows = inRows(changes, recordOf, BLOCK_LENGTH);
    const query = "SELECT seq, length(data) AS length FROM log ORDER BY seq DESC LIMIT 1";
    const last = this.tables.find<LogBlock>(query);
    for (const [index, { items, text }] of rows.entries()) {
      const [first, latest] = [items[0], items.at(-1)];
      if (first === undefined || latest === undefined) continue;
      const bytes = items.reduce((sum, { data }) => sum + byteLength(data), 0);
      const columns = { last_seq: latest.seq, at: latest.at, changes: items.length, bytes };
      if (index === 0 && last !== null && last.length + text.length <= BLOCK_LENGTH)
        this.tables.write(
          `UPDATE log SET last_seq = ?, at = ?, changes = changes + ?, bytes = bytes + ?, data = data || ',' || ?
           WHERE seq = ?`,
          ...[...Object.values(columns), text, last.seq],
        );
      else this.tables.insert("log", { seq: first.seq, ...columns, data: text });
    }
  }

  #totals() {
    const query = "SELECT ifnull(sum(changes), 0) AS count, ifnull(sum(bytes), 0) AS bytes FROM log";
    return this.tables.find<{ count: number; bytes: number }>(query) ?? { count: 0, bytes: 0 };
  }

  /** Leaves out earlier changes of entries, and the oldest above the limits. */
  #compact(): void {
    const changes = this.#latestOf([...this.#scanBlocks(0)]);
    const tooOld = lastTooOld(changes);
    this.#replace(changes.filter(({ seq }) => seq > (tooOld?.seq ?? 0)));
    if (tooOld !== undefined) this.#writeDropped(tooOld.seq);
  }

  #replace(changes: readonly LoggedChange[]): void {
    this.tables.write("DELETE FROM log");
    this.#append(changes);
  }

  #writeDropped(seq: number): void {
    this.tables.write("INSERT OR REPLACE INTO dropped_changes VALUES (1, ?)", seq);
  }

  /** Drops all changes but the latest, and that one as well if it is one of `dropped`. */
  dropAll(isDropped: (change: LoggedChange) => boolean): void {
    this.#journal.fold();
    const latest = [...this.#scanBlocks(0)].at(-1);
    if (latest === undefined) return;
    const keeps = !isDropped(latest);
    this.retire("log", this.lastSeq());
    this.#replace(keeps ? [latest] : []);
    this.#writeDropped(keeps ? latest.seq - 1 : latest.seq);
  }

  /** The kept changes after `seq`, oldest first. */
  listAfter(seq: number): readonly LoggedChange[] {
    return [...this.scanAfter(seq)];
  }

  /** The same, read while the caller iterates. */
  *scanAfter(seq: number): Generator<LoggedChange> {
    const { changes } = this.#journal.unfolded;
    if (seq + 1 < (changes[0]?.seq ?? Number.POSITIVE_INFINITY)) yield* this.#scanBlocks(seq);
    for (const change of changes) if (change.seq > seq) yield change;
  }

  *#scanBlocks(after: number): Generator<LoggedChange> {
    const query = "SELECT last_seq, data FROM log WHERE last_seq > ? ORDER BY seq";
    const next = (last: { last_seq: number }) => [last.last_seq];
    for (const { data: text } of this.tables.scan<{ last_seq: number; data: string }>(query, [after], next))
      for (const [seq, at, event, data] of JSON.parse(`[${text}]`) as ChangeRecord[])
        if (seq > after)
          yield {
            ...{ seq, at, event, entry: addressOf(event, data) },
            get data() {
              return JSON.stringify(data);
            },
          };
  }

  /** The kept changes after `seq`, but of each entry the latest, unless the log keeps every one. */
  latestAfter(seq: number): readonly LoggedChange[] {
    return this.#latestOf(this.listAfter(seq));
  }

  #latestOf(changes: readonly LoggedChange[]): readonly LoggedChange[] {
    if (this.#keepsEvery()) return changes;
    const latest = new Map(changes.map((change) => [addressTextOf(change), change.seq]));
    return changes.filter((change) => latest.get(addressTextOf(change)) === change.seq);
  }

  #keepsEvery(): boolean {
    return this.tables.find("SELECT 1 FROM facts WHERE name = ?", EVERY_CHANGE) !== null;
  }

  keepEvery(): void {
    this.#journal.fold();
    this.tables.write("INSERT OR REPLACE INTO facts VALUES (?, '1')", EVERY_CHANGE);
  }

  /** The latest change that was dropped by age or size; 0 for none. */
  readDroppedSeq(): number {
    return this.tables.find<{ seq: number }>("SELECT up_to_seq AS seq FROM dropped_changes")?.seq ?? 0;
  }
}

/**
 * The latest of consecutive changes that is not kept: above the limits with those after it, or made before
 * `expiredBefore` (epoch ms). The very last one is kept.
 */
export function lastTooOld<Kept extends Pick<LoggedChange, "at" | "data">>(
  changes: readonly Kept[],
  expiredBefore = Number.NEGATIVE_INFINITY,
): Kept | undefined {
  const bounds = { count: 0, bytes: 0 };
  return changes.findLast(({ at, data }) => {
    bounds.count += 1;
    bounds.bytes += byteLength(data);
    const isTooMuch = bounds.count > LIMITS.keptChanges || bounds.bytes > LIMITS.catchUpBytes;
    return bounds.count > 1 && (isTooMuch || at < expiredBefore);
  });
}

/** Equal for changes of the same entry. */
const addressTextOf = ({ seq, entry }: LoggedChange): string | number =>
  entry === null ? seq : JSON.stringify([entry.store, entry.key]);

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

/** Receipts below one of these are deleted. */
type ReceiptBounds = Omit<PlacedReceipt, keyof Receipt>;

/** A receipt of a block: its ID, fingerprint, number, total, time and answer. */
type ReceiptItem = readonly [string, string, number, number, number, unknown];

/** Receipts of many users in a day. Forgotten hashes are read again. */
const MAX_REMEMBERED = 500_000;

/** The bounds of a user whose latest receipt has a place, at a time (epoch ms). */
export const receiptBounds = ({ number, total }: ReceiptPlace, now: number): ReceiptBounds => ({
  number: number - LIMITS.receipts + 1,
  total: total - LIMITS.receiptBytes,
  at: now - LIMITS.receiptLifetimeMs,
});

/** A row of receipts: its key, and the time of the latest one (epoch ms). */
type ReceiptRow = Pick<PlacedReceipt, "userId" | "number" | "at">;
const NO_ROW: ReceiptRow = { userId: "", number: 0, at: 0 };

/** A hash in 30 bits, which fit into a small integer. */
function hashOf(userId: string, requestId: string): number {
  const text = `${userId} ${requestId}`;
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/** Receipts in blocks of each user. Hashes of their IDs are in memory: nearly every request is new. */
export class SqliteReceipts extends SqlitePart {
  readonly #journal: SqliteJournal;
  /** Hashes of at least the stored receipts of the users in `#loaded`. */
  readonly #hashes = new Set<number>();
  readonly #loaded = new Set<string>();
  /** The row up to which old ones are deleted. */
  #cleaned = NO_ROW;

  constructor(tables: SqliteTables, journal: SqliteJournal) {
    super(tables);
    this.#journal = journal;
    journal.onFold(({ receipts }) => {
      for (const [userId, all] of receipts)
        this.#fold(
          userId,
          [...all.values()].sort((one, other) => one.number - other.number),
        );
      this.#cleanNext(receipts);
    });
  }

  find(userId: string, requestId: string): PlacedReceipt | null {
    const unfolded = this.#journal.unfolded.receipts.get(userId)?.get(requestId);
    if (unfolded !== undefined) return unfolded;
    return this.#mayHave(userId, requestId) ? this.#readFolded(userId, requestId) : null;
  }

  #mayHave(userId: string, requestId: string): boolean {
    if (!this.#loaded.has(userId)) {
      const rows = this.tables.read<{ ids: string }>("SELECT ids FROM receipts WHERE user_id = ?", userId);
      if (this.#hashes.size > MAX_REMEMBERED) this.#forget();
      this.#loaded.add(userId);
      for (const { ids } of rows) this.#remember(userId, JSON.parse(`[${ids}]`) as string[]);
    }
    return this.#hashes.has(hashOf(userId, requestId));
  }

  #forget(): void {
    this.#hashes.clear();
    this.#loaded.clear();
  }

  #remember(userId: string, requestIds: readonly string[]): void {
    for (const id of requestIds) this.#hashes.add(hashOf(userId, id));
  }

  #readFolded(userId: string, requestId: string): PlacedReceipt | null {
    const query = `SELECT data FROM receipts WHERE user_id = ? AND instr(',' || ids || ',', ?) > 0
      ORDER BY number DESC LIMIT 1`;
    const row = this.tables.find<{ data: string }>(query, userId, `,${JSON.stringify(requestId)},`);
    const items = JSON.parse(`[${row?.data ?? ""}]`) as ReceiptItem[];
    const item = items.findLast(([id]) => id === requestId);
    if (item === undefined) return null;
    const [, fingerprint, number, total, at, answer] = item;
    return { userId, requestId, fingerprint, number, total, at, answer: JSON.stringify(answer) };
  }

  /** Replaces an earlier receipt of the same user and id. */
  insert(receipt: PlacedReceipt): void {
    this.#journal.appendReceipt(receipt);
  }

  /** The place of the latest receipt, which may be deleted by now; null for none. */
  newest(userId: string): ReceiptPlace | null {
    const latest = this.#journal.unfolded.newest.get(userId);
    const query =
      "SELECT last_number AS number, total FROM receipts WHERE user_id = ? ORDER BY number DESC LIMIT 1";
    return latest ?? this.tables.find<ReceiptPlace>(query, userId);
  }

  #fold(userId: string, receipts: readonly PlacedReceipt[]): void {
    const query = `SELECT number, length(ids) + length(data) AS length FROM receipts
      WHERE user_id = ? ORDER BY number DESC LIMIT 1`;
    const last = this.tables.find<{ number: number; length: number }>(query, userId);
    for (const [index, { items, text }] of inRows(receipts, itemOf, RECEIPTS_LENGTH).entries()) {
      const [first, latest] = [items[0], items.at(-1)];
      if (first === undefined || latest === undefined) continue;
      const ids = items.map(({ requestId }) => JSON.stringify(requestId)).join();
      const columns = { last_number: latest.number, total: latest.total, at: latest.at };
      if (index === 0 && last !== null && last.length + text.length <= RECEIPTS_LENGTH)
        this.tables.write(
          `UPDATE receipts SET last_number = ?, total = ?, at = ?, ids = ids || ',' || ?, data = data || ',' || ?
           WHERE user_id = ? AND number = ?`,
          ...[...Object.values(columns), ids, text, userId, last.number],
        );
      else {
        this.tables.insert("receipts", {
          user_id: userId,
          number: first.number,
          ...columns,
          ids,
          data: text,
        });
        this.#clean(userId, receiptBounds(latest, latest.at));
      }
    }
    if (this.#hashes.size > MAX_REMEMBERED) this.#forget();
    const ids = receipts.map(({ requestId }) => requestId);
    if (this.#loaded.has(userId)) this.#remember(userId, ids);
  }

  #clean(userId: string, { number, total, at }: ReceiptBounds): void {
    const query = "DELETE FROM receipts WHERE user_id = ? AND (last_number < ? OR total < ? OR at < ?)";
    this.tables.write(query, userId, number, total, at);
  }

  /** Deletes old rows, of users who are gone as well: each fold looks at twice as many rows as it has users. */
  #cleanNext(folded: ReadonlyMap<string, ReadonlyMap<string, PlacedReceipt>>): void {
    const latest = [...folded.values()].flatMap((all) => [...all.values()]).at(-1);
    if (latest === undefined) return;
    const query = `SELECT user_id AS userId, number, at FROM receipts WHERE (user_id, number) > (?, ?)
      ORDER BY user_id, number LIMIT ?`;
    const limit = 2 * folded.size;
    const { userId: after, number } = this.#cleaned;
    const rows = this.tables.read<ReceiptRow>(query, after, number, limit);
    for (const row of rows)
      if (row.at < latest.at - LIMITS.receiptLifetimeMs)
        this.tables.write("DELETE FROM receipts WHERE user_id = ? AND number = ?", row.userId, row.number);
    this.#cleaned = (rows.length < limit ? undefined : rows.at(-1)) ?? NO_ROW;
  }

  /** Rewrites the answers of all users that contain a text. */
  rewriteNaming(text: string, rewrite: (answer: string) => string): void {
    this.#journal.fold();
    const query = "SELECT user_id AS userId, number, data FROM receipts WHERE instr(data, ?) > 0";
    for (const { userId, number, data } of this.tables.read<{ userId: string; number: number; data: string }>(
      query,
      text,
    )) {
      const items = (JSON.parse(`[${data}]`) as ReceiptItem[]).map(([...item]) => {
        const answer = item.pop();
        const json = JSON.stringify(answer);
        return `${JSON.stringify(item).slice(0, -1)},${json.includes(text) ? rewrite(json) : json}]`;
      });
      this.tables.write(
        "UPDATE receipts SET data = ? WHERE user_id = ? AND number = ?",
        items.join(),
        userId,
        number,
      );
    }
  }

  deleteUser(userId: string): void {
    this.#journal.fold();
    this.tables.write("DELETE FROM receipts WHERE user_id = ?", userId);
  }
}

const itemOf = ({ requestId, fingerprint, number, total, at, answer }: PlacedReceipt): string =>
  `${JSON.stringify([requestId, fingerprint, number, total, at]).slice(0, -1)},${answer}]`;
