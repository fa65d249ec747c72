/** The agents that a room's comments have woken, in SQLite: their IDs, and no text. */
import { DAY_MS, HOUR_MS } from "@atrium/contract/time.ts";
import { SqlitePart } from "./sqlite-tables.ts";

interface Wake {
  readonly commentId: string;
  readonly identityId: string;
  readonly depth: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly isByAgent: boolean;
}

/** Stands for all agents of the room. */
const ALL = "";

export class SqliteWakes extends SqlitePart {
  /** The identities that a comment has woken. */
  wokenBy(commentId: string): ReadonlySet<string> {
    const query = "SELECT identity_id AS id FROM woken_agents WHERE comment_id = ?";
    return new Set(this.tables.read<{ id: string }>(query, commentId).map(({ id }) => id));
  }

  /** The depth of an identity's latest wake within a day before `at` (epoch ms); 0 without one. */
  depthOf(identityId: string, at: number): number {
    const query = "SELECT depth FROM wakes WHERE identity_id = ? AND at > ?";
    return this.tables.find<{ depth: number }>(query, identityId, at - DAY_MS)?.depth ?? 0;
  }

  /** The wakes by agents at a time (epoch ms): of an identity on its day, or of all in the room's hour. */
  countOf(identityId: string | null, at: number): number {
    const query = "SELECT count FROM wake_counts WHERE identity_id = ? AND since > ?";
    const after = at - (identityId === null ? HOUR_MS : DAY_MS);
    return this.tables.find<{ count: number }>(query, identityId ?? ALL, after)?.count ?? 0;
  }

  /** Adds a wake, and deletes what bounds none any more. */
  add({ commentId, identityId, depth, at, isByAgent }: Wake): void {
    this.tables.write("DELETE FROM wakes WHERE at <= ?", at - DAY_MS);
    this.tables.write("DELETE FROM wake_counts WHERE since <= ?", at - DAY_MS);
    this.tables.insert("wakes", { identity_id: identityId, depth, at }, "INSERT OR REPLACE");
    this.tables.insert("woken_agents", { comment_id: commentId, identity_id: identityId });
    if (!isByAgent) return;
    for (const [id, lifetime] of [[identityId, DAY_MS] as const, [ALL, HOUR_MS] as const])
      this.tables.write(
        `INSERT INTO wake_counts VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET
           count = iif(since > ?3, count + 1, 1), since = iif(since > ?3, since, ?2)`,
        ...([id, at, at - lifetime] as const),
      );
  }

  /** Deletes all that names an erased identity. Writes nothing where there is none. */
  deleteIdentity(identityId: string): void {
    const known = `SELECT 1 FROM woken_agents WHERE identity_id = ?1
      UNION ALL SELECT 1 FROM wakes WHERE identity_id = ?1 LIMIT 1`;
    if (this.tables.find(known, identityId) === null) return;
    for (const table of ["woken_agents", "wakes", "wake_counts"])
      this.tables.write(`DELETE FROM ${table} WHERE identity_id = ?`, identityId);
  }
}
