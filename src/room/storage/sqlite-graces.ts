/** The users in SQLite who stay online without a socket for a moment. */
import { SqlitePart } from "./sqlite-part.ts";
import type { Grace, GraceTable } from "./storage.ts";

type GraceRow = { user_id: string; ends_at: number; left_at: number; state: string | null };

/** As {@link SqliteGraces} wrote it. */
const parseState = (json: string): Readonly<Record<string, unknown>> | null =>
  JSON.parse(json) as Readonly<Record<string, unknown>> | null;

export class SqliteGraces extends SqlitePart implements GraceTable {
  put({ userId, endsAt, leftAt, state }: Grace): void {
    const insert = "INSERT OR REPLACE INTO graces (user_id, ends_at, left_at, state) VALUES (?, ?, ?, ?)";
    this.tables.write(insert, userId, endsAt, leftAt, state === undefined ? null : JSON.stringify(state));
  }

  delete(userId: string): void {
    this.tables.write("DELETE FROM graces WHERE user_id = ?", userId);
  }

  list(): Grace[] {
    return this.tables.read<GraceRow>("SELECT * FROM graces ORDER BY ends_at, user_id").map((row) => ({
      ...{ userId: row.user_id, endsAt: row.ends_at, leftAt: row.left_at },
      ...(row.state !== null && { state: parseState(row.state) }),
    }));
  }
}
