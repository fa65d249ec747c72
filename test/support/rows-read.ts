/** Counts what D1 reads, of which its bill and its time are made. */
import { env } from "cloudflare:workers";

/** The rows that D1 reads while `work` runs, in batches: the service runs nothing in another way. */
export async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  const database: D1Database = Object.getPrototypeOf(env.DB);
  const { batch } = database;
  let rows = 0;
  database.batch = async function <T>(statements: D1PreparedStatement[]) {
    const results: D1Result<T>[] = (await batch.call(this, statements)) as D1Result<T>[];
    for (const { meta } of results) rows += meta.rows_read;
    return results;
  };
  try {
    await work();
  } finally {
    database.batch = batch;
  }
  return rows;
}
