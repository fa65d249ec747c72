/** The SQL for the database of an object that was copied with its state folder. */
import { DatabaseSync } from "node:sqlite";
import { RESTORED_SEQ } from "../../platform/objects/object-tables.ts";

/** Makes the copy begin above the numbers that are given while the rest is copied, as after any restore. */
export function skipNumbers(target: string, seq: number): void {
  const database = new DatabaseSync(target);
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    if (tables.get("facts") !== undefined)
      database.prepare("INSERT OR REPLACE INTO facts VALUES (?, ?)").run(RESTORED_SEQ, `${seq}`);
    if (tables.get("inboxes") !== undefined) {
      database.prepare("UPDATE inboxes SET seq = max(seq, ?)").run(seq);
      // The copy of a room may hold data that was deleted since.
      database.exec("DELETE FROM removals");
    }
  } finally {
    database.close();
  }
}
