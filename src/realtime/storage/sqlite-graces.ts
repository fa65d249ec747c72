/** The users in SQLite who stay online without a socket for a moment. */
import { SqlitePart } from "./sqlite-part.ts";
import type { Grace, GraceTable } from "./storage.ts";

type GraceRow = { user_id: string; ends_at: number; left_at: number };

export class SqliteGraces extends SqlitePart implements GraceTable {
  put({ userId, endsAt, leftAt }: Grace): void {
    this.tables.write("INSERT OR REPLACE INTO graces VALUES (?, ?, ?)", userId, endsAt, leftAt);
  }

  delete(userId: string): void {
    this.tables.write("DELETE FROM graces WHERE user_id = ?", userId);
  }

  list(): Grace[] {
    return this.tables
      .read<GraceRow>("SELECT * FROM graces ORDER BY ends_at, user_id")
      .map((row) => ({ userId: row.user_id, endsAt: row.ends_at, leftAt: row.left_at }));
  }
}
