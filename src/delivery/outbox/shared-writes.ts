/** Writes that no response waits for: those of one organization that are made at the same time share a round trip. */
import type { Database, Statement } from "../../platform/d1.ts";

/** Statements of one round trip. */
const MAX_AT_ONCE = 50;
/** Round trips that one request makes for others, whose own work it may outlast. */
const MAX_TRIPS = 20;
/** A request that has taken so long was ended by the platform: the next one takes its place. */
const STUCK_MS = 5_000;

/** What waits for an organization. */
interface Lane {
  readonly statements: Statement[];
  /** Since when a request runs them (epoch ms); null while none does. */
  runningSince: number | null;
}

/**
 * A statement that finds none under way runs at once; what arrives meanwhile is run by the same request, as one batch.
 * Requests share nothing but data: the platform lets none wait for what another one does.
 */
export class SharedWrites {
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();

  /** `now` returns epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when the statement has run, or another request will run it. Rejects when what this request runs does. */
  async run(db: Database, accountId: string, statement: Statement): Promise<void> {
    const lane = this.#lanes.get(accountId) ?? { statements: [], runningSince: null };
    this.#lanes.set(accountId, lane);
    lane.statements.push(statement);
    const startedAt = this.#now();
    if (lane.runningSince !== null && startedAt - lane.runningSince < STUCK_MS) return;
    lane.runningSince = startedAt;
    try {
      for (let trip = 0; trip < MAX_TRIPS; trip += 1) {
        const [first, ...others] = lane.statements.splice(0, MAX_AT_ONCE);
        if (first === undefined) break;
        await db.run([first, ...others]);
      }
    } finally {
      lane.runningSince = null;
      if (lane.statements.length === 0) this.#lanes.delete(accountId);
    }
  }
}
