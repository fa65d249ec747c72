/** The log of changes and their epochs in SQLite. */
import type { ChangeEvent } from "../protocol/protocol.ts";
import { SqlitePart } from "./sqlite-part.ts";
import type { ChangeLog, EpochTable, LoggedChange, LogTotals, NewChange, Replaced } from "./storage-log.ts";

type KeptChange = { seq: number; size: number };

const COLUMNS = "(seq, at, event, data, size, store, key)";

export class SqliteChanges extends SqlitePart implements ChangeLog {
  lastSeq(): number {
    return this.tables.read<{ seq: number | null }>("SELECT max(seq) AS seq FROM changes")[0]?.seq ?? 0;
  }

  /**
   * Store and key are kept only for deletions; live entries name their latest change. A change takes the row of the one
   * that it replaces: a deletion and an insertion would write one row more.
   */
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
    const [kept] =
      "seq" in change
        ? this.tables.read<KeptChange>("SELECT seq, size FROM changes WHERE seq = ?", change.seq)
        : this.tables.read<KeptChange>(
            "SELECT seq, size FROM changes WHERE store = ? AND key = ?",
            change.deletionOf.store,
            change.deletionOf.key,
          );
    return kept ?? null;
  }

  oldest(): Iterable<{ seq: number; at: number; size: number }> {
    return this.tables.scan<{ seq: number; at: number; size: number }>(
      "SELECT seq, at, size FROM changes WHERE seq > ? ORDER BY seq",
      [0],
      ({ seq }) => [seq],
    );
  }

  drop(seq: number): void {
    this.tables.write("DELETE FROM changes WHERE seq <= ?", seq);
    this.tables.write("INSERT OR REPLACE INTO dropped_changes VALUES (1, ?)", seq);
  }

  listAfter(seq: number): LoggedChange[] {
    return this.tables.read<{ seq: number; event: ChangeEvent; data: string }>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq",
      seq,
    );
  }

  readDroppedSeq(): number {
    return this.tables.read<{ seq: number }>("SELECT up_to_seq AS seq FROM dropped_changes")[0]?.seq ?? 0;
  }

  readTotals(): LogTotals {
    const query = "SELECT count(*) AS changes, ifnull(sum(size), 0) AS bytes FROM changes";
    const row = this.tables.read<{ changes: number; bytes: number }>(query)[0];
    return { droppedSeq: this.readDroppedSeq(), ...(row ?? { changes: 0, bytes: 0 }) };
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
