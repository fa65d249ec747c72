/** Counts the rows that D1 reads and writes, which are its bill and its time. */
import { env } from "cloudflare:workers";

/** The rows of one batch. */
interface Rows {
  readonly read: number;
  readonly written: number;
}

/** Rows that D1 reads and writes while `work` runs, by batch: the service runs everything in batches. */
export async function batchesOf(work: () => Promise<unknown>): Promise<readonly Rows[]> {
  const database: D1Database = Object.getPrototypeOf(env.DB);
  const { batch } = database;
  const batches: Rows[] = [];
  database.batch = async function <T>(statements: D1PreparedStatement[]) {
    const results: D1Result<T>[] = (await batch.call(this, statements)) as D1Result<T>[];
    const sum = (rows: "rows_read" | "rows_written") =>
      results.reduce((total, { meta }) => total + meta[rows], 0);
    batches.push({ read: sum("rows_read"), written: sum("rows_written") });
    return results;
  };
  try {
    await work();
  } finally {
    database.batch = batch;
  }
  return batches;
}

/** The rows that D1 reads and writes while `work` runs. */
export async function rowsTouchedBy(work: () => Promise<unknown>): Promise<Rows> {
  const sum = { read: 0, written: 0 };
  for (const { read, written } of await batchesOf(work)) {
    sum.read += read;
    sum.written += written;
  }
  return sum;
}

/** The rows that D1 reads while `work` runs. */
export const rowsReadBy = async (work: () => Promise<unknown>): Promise<number> =>
  (await rowsTouchedBy(work)).read;
