/** Re-encryption, in chunks, of rows that the current key has not encrypted. */
import type { Database, Statement } from "../d1/d1.ts";
import { WorkBudget } from "../flow/work-budget.ts";

const ROWS_AT_ONCE = 100;
/** The next run of the cron trigger continues. */
const CHUNKS_PER_RUN = 20;

/** Rows of one kind. */
export interface Resealing<Row> {
  /** At most `limit` rows that are to be encrypted anew. */
  select(limit: number): Statement<Row>;
  /** The statement after which {@link select} no longer finds the row. */
  reseal(row: Row): Promise<Statement>;
}

/** Resolves to false when rows are left for a later run. */
export const resealInChunks = <Row>(db: Database, { select, reseal }: Resealing<Row>): Promise<boolean> =>
  new WorkBudget(CHUNKS_PER_RUN).run(async () => {
    const [rows] = await db.run([select(ROWS_AT_ONCE)]);
    const [first, ...others] = await Promise.all(rows.map(reseal));
    if (first !== undefined) await db.run([first, ...others]);
    return rows.length === ROWS_AT_ONCE;
  });
