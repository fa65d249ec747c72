/** Counts the round trips to databases. */
import type { Database } from "./d1.ts";

/** Counts the round trips to databases. */
export class TripCounter {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** The same database, whose round trips are counted. */
  count(db: Database): Database {
    return {
      run: (statements) => {
        this.#total += 1;
        return db.run(statements);
      },
    };
  }
}
