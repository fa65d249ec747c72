/** Records the costs of statements in an object's database. */
import { vi } from "vitest";

interface Cursor {
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** The cursors of all statements from now on, in their order. */
export function recordCursors(sql: SqlStorage): Cursor[] {
  const cursors: Cursor[] = [];
  const exec = sql.exec.bind(sql);
  vi.spyOn(sql, "exec").mockImplementation((query, ...values) => {
    const cursor = exec<never>(query, ...values);
    cursors.push(cursor);
    return cursor;
  });
  return cursors;
}
