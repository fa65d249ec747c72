/** The agents that a room's comments have woken, in SQLite: their IDs, and no text. */
import { SqlitePart } from "./sqlite-tables.ts";

interface Wake {
  readonly commentId: string;
  readonly threadId: string;
  readonly identityId: string;
  readonly depth: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly isByAgent: boolean;
}

export class SqliteWakes extends SqlitePart {
  /** The identities that a comment has woken. */
  wokenBy(commentId: string): ReadonlySet<string> {
    const query = "SELECT identity_id AS id FROM woken_agents WHERE comment_id = ?";
    return new Set(this.tables.read<{ id: string }>(query, commentId).map(({ id }) => id));
  }

  /** The depth of the deepest mention of an identity after a time (epoch ms), in a thread or with null in any; 0 without one. */
  depthOf(identityId: string, threadId: string | null, after: number): number {
    const query = `SELECT max(depth) AS depth FROM wakes
      WHERE identity_id = ?1 ${threadId === null ? "" : "AND thread_id = ?3"} AND at > ?2`;
    const params = threadId === null ? [] : [threadId];
    return this.tables.find<{ depth: number | null }>(query, identityId, after, ...params)?.depth ?? 0;
  }

  /** The wakes by comments of agents after a time (epoch ms). */
  countByAgents(after: number): number {
    const query = "SELECT count(*) AS count FROM wakes WHERE by_agent = 1 AND at > ?";
    return this.tables.find<{ count: number }>(query, after)?.count ?? 0;
  }

  add({ commentId, threadId, identityId, depth, at, isByAgent }: Wake): void {
    const wake = { thread_id: threadId, identity_id: identityId, depth, at, by_agent: Number(isByAgent) };
    this.tables.insert("wakes", wake);
    this.tables.insert("woken_agents", { comment_id: commentId, identity_id: identityId });
  }

  /** Deletes the wakes up to a time (epoch ms), which are no causes and do not count any more. */
  deleteUntil(at: number): void {
    this.tables.write("DELETE FROM wakes WHERE at <= ?", at);
  }

  /** Deletes what names an erased identity. Writes nothing where there is none. */
  deleteIdentity(identityId: string): void {
    const known = `SELECT 1 FROM woken_agents WHERE identity_id = ?1
      UNION ALL SELECT 1 FROM wakes WHERE identity_id = ?1 LIMIT 1`;
    if (this.tables.find(known, identityId) === null) return;
    for (const table of ["woken_agents", "wakes"])
      this.tables.write(`DELETE FROM ${table} WHERE identity_id = ?`, identityId);
  }
}
