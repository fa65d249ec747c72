/** The log of changes, their epochs, and the receipts of requests in SQLite. */
import type { ChangeEvent } from "../protocol/protocol.ts";
import { SqlitePart } from "./sqlite-part.ts";
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

export class SqliteChanges extends SqlitePart implements ChangeLog {
  lastSeq(): number {
    return this.tables.read<{ seq: number | null }>("SELECT max(seq) AS seq FROM changes")[0]?.seq ?? 0;
  }

  append({ seq, at, event, data, size, entry }: NewChange): number | null {
    const replaced =
      entry === null
        ? undefined
        : this.tables.read<{ size: number }>(
            "DELETE FROM changes WHERE store = ? AND key = ? RETURNING size",
            entry.store,
            entry.key,
          )[0];
    this.tables.write(
      "INSERT INTO changes (seq, at, event, data, size, store, key) VALUES (?, ?, ?, ?, ?, ?, ?)",
      seq,
      at,
      event,
      data,
      size,
      entry?.store ?? null,
      entry?.key ?? null,
    );
    return replaced?.size ?? null;
  }

  oldest(): Iterable<{ seq: number; at: number; size: number }> {
    return this.tables.scan<{ seq: number; at: number; size: number }>(
      "SELECT seq, at, size FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
      [0],
      ({ seq }) => [seq],
    );
  }

  drop(seq: number): void {
    this.tables.write("DELETE FROM changes WHERE seq <= ?", seq);
  }

  listAfter(seq: number): LoggedChange[] {
    return this.tables.read<{ seq: number; event: ChangeEvent; data: string }>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq",
      seq,
    );
  }

  readTotals(): LogTotals {
    const query = "SELECT dropped_seq AS droppedSeq, changes, bytes FROM change_totals";
    const row = this.tables.read<{ droppedSeq: number; changes: number; bytes: number }>(query)[0];
    return row ?? { droppedSeq: 0, changes: 0, bytes: 0 };
  }

  writeTotals({ droppedSeq, changes, bytes }: LogTotals): void {
    const query = "INSERT OR REPLACE INTO change_totals VALUES (1, ?, ?, ?)";
    this.tables.write(query, droppedSeq, changes, bytes);
  }
}

export class SqliteEpochs extends SqlitePart implements EpochTable {
  latest(): string | null {
    return (
      this.tables.read<{ id: string }>("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")[0]?.id ?? null
    );
  }

  begin(id: string, after: number, limit: number): void {
    this.tables.write("INSERT INTO epochs (id, after_seq) VALUES (?, ?)", id, after);
    this.tables.write("DELETE FROM epochs WHERE number <= (SELECT max(number) FROM epochs) - ?", limit);
  }

  lastSeqOf(id: string): number | null {
    const query = `SELECT (SELECT min(after_seq) FROM epochs AS later WHERE later.number > epochs.number) AS seq
      FROM epochs WHERE id = ?`;
    const row = this.tables.read<{ seq: number | null }>(query, id)[0];
    return row === undefined ? null : (row.seq ?? Number.POSITIVE_INFINITY);
  }
}

export class SqliteReceipts extends SqlitePart implements ReceiptTable {
  find(userId: string, requestId: string): Receipt | null {
    const row = this.tables.read<{ fingerprint: string; answer: string }>(
      "SELECT fingerprint, answer FROM receipts WHERE user_id = ? AND request_id = ?",
      userId,
      requestId,
    )[0];
    return row === undefined ? null : { userId, requestId, ...row };
  }

  insert({ userId, requestId, fingerprint, answer }: Receipt, { number, total }: ReceiptPlace, at: number) {
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
  }

  newest(userId: string): ReceiptPlace | null {
    return this.#end(userId, "DESC");
  }

  oldest(userId: string): ReceiptPlace | null {
    return this.#end(userId, "ASC");
  }

  #end(userId: string, order: "ASC" | "DESC"): ReceiptPlace | null {
    const query = `SELECT number, total FROM receipts WHERE user_id = ? ORDER BY number ${order} LIMIT 1`;
    return this.tables.read<{ number: number; total: number }>(query, userId)[0] ?? null;
  }

  deleteOldest(userId: string): void {
    this.tables.write(
      `DELETE FROM receipts WHERE user_id = ?1
       AND number = (SELECT min(number) FROM receipts WHERE user_id = ?1)`,
      userId,
    );
  }

  deleteUser(userId: string): void {
    this.tables.write("DELETE FROM receipts WHERE user_id = ?", userId);
  }

  deleteExpired(at: number, limit: number): void {
    this.tables.write(
      `DELETE FROM receipts WHERE position IN
       (SELECT position FROM (SELECT position, at FROM receipts ORDER BY position LIMIT ?) WHERE at < ?)`,
      limit,
      at,
    );
  }
}
