/** Counts what D1 reads and writes, of which its bill and its time are made. */
import { env } from "cloudflare:workers";

/** The rows that D1 reads while `work` runs. */
export const rowsReadBy = async (work: () => Promise<unknown>): Promise<number> =>
  (await rowsTouchedBy(work)).read;

/** The rows that D1 reads and writes while `work` runs, in batches: the service runs nothing in another way. */
export async function rowsTouchedBy(
  work: () => Promise<unknown>,
): Promise<{ readonly read: number; readonly written: number }> {
  const database: D1Database = Object.getPrototypeOf(env.DB);
  const { batch } = database;
  const rows = { read: 0, written: 0 };
  database.batch = async function <T>(statements: D1PreparedStatement[]) {
    const results: D1Result<T>[] = (await batch.call(this, statements)) as D1Result<T>[];
    for (const { meta } of results) {
      rows.read += meta.rows_read;
      rows.written += meta.rows_written;
    }
    return results;
  };
  try {
    await work();
  } finally {
    database.batch = batch;
  }
  return rows;
}
