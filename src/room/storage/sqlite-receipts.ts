/** The receipts of requests in SQLite: one row for each, in the order of its user and request. */
import { SqlitePart } from "./sqlite-part.ts";
import type { SqliteTables } from "./sqlite-tables.ts";
import type { PlacedReceipt, ReceiptBounds, ReceiptPlace, ReceiptTable } from "./storage-log.ts";

/** More users than write at once; what is forgotten is read again. */
const MAX_REMEMBERED = 2_000;

type ReceiptRow = { fingerprint: string; answer: string; number: number; total: number; at: number };

/**
 * The table has no index beside its key, because each entry of one is a row that is written: what needs another order
 * reads all receipts of a user, and must be rare.
 */
export class SqliteReceipts extends SqlitePart implements ReceiptTable {
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
    const [row] = this.tables.read<ReceiptRow>(
      "SELECT fingerprint, answer, number, total, at FROM receipts WHERE user_id = ? AND request_id = ?",
      userId,
      requestId,
    );
    return row === undefined ? null : { userId, requestId, ...row };
  }

  insert({ userId, requestId, number, total, at, fingerprint, answer }: PlacedReceipt): void {
    this.tables.write(
      `INSERT OR REPLACE INTO receipts (user_id, request_id, number, total, at, fingerprint, answer)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      userId,
      requestId,
      number,
      total,
      at,
      fingerprint,
      answer,
    );
    if (this.#newest.size >= MAX_REMEMBERED) this.#newest.clear();
    this.#newest.set(userId, { number, total });
    this.#writtenAt = this.tables.writes;
  }

  newest(userId: string): ReceiptPlace | null {
    return this.#newest.get(userId) ?? this.#readNewest(userId);
  }

  #readNewest(userId: string): ReceiptPlace | null {
    const query = "SELECT max(number) AS number, max(total) AS total FROM receipts WHERE user_id = ?";
    const [row] = this.tables.read<{ number: number | null; total: number | null }>(query, userId);
    const { number = null, total = null } = row ?? {};
    return number === null || total === null ? null : { number, total };
  }

  deleteBefore(userId: string, { number, total, at }: ReceiptBounds): void {
    const query = "DELETE FROM receipts WHERE user_id = ? AND (number < ? OR total < ? OR at < ?)";
    this.tables.write(query, userId, number, total, at);
  }

  deleteUser(userId: string): void {
    this.#newest.delete(userId);
    this.tables.write("DELETE FROM receipts WHERE user_id = ?", userId);
  }

  deleteExpiredOfNext(userId: string, at: number): void {
    const query = `SELECT ifnull(
        (SELECT min(user_id) FROM receipts WHERE user_id > ?), (SELECT min(user_id) FROM receipts)) AS next`;
    const [row] = this.tables.read<{ next: string | null }>(query, userId);
    const next = row?.next ?? userId;
    if (next === userId) return;
    this.tables.write("DELETE FROM receipts WHERE user_id = ? AND at < ?", next, at);
  }
}
