/** Encrypts anew, a slice at a time, what the current key has not encrypted. */
import type { Database, Statement } from "../d1/d1.ts";

const SLICE = 100;
/** What is left after so many slices waits for the next run of the cron trigger. */
const MAX_SLICES = 20;

/** Rows of one kind. */
export interface Resealing<Row> {
  /** At most so many that are to be encrypted anew. */
  select(limit: number): Statement<Row>;
  /** What takes a row out of those. */
  reseal(row: Row): Promise<Statement>;
}

export async function resealSlices<Row>(db: Database, { select, reseal }: Resealing<Row>): Promise<void> {
  for (let slice = 0; slice < MAX_SLICES; slice += 1) {
    const [rows] = await db.run([select(SLICE)]);
    const [first, ...others] = await Promise.all(rows.map(reseal));
    if (first === undefined) return;
    await db.run([first, ...others]);
    if (rows.length < SLICE) return;
  }
}
