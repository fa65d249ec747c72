/** Deletes rows of the outbox once they are relayed: those of one organization together, a moment later. No response waits for it. */
import type { RequestContext } from "../../platform/context/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { sleep } from "../../platform/time-limit.ts";
import { deleteOutboxEntries } from "./command-store.ts";
import { deleteEvents } from "./outbox-store.ts";

/** The delay after the first row: much shorter than the age of rows that count as left behind. */
const COLLECT_MS = 50;
/** The rows that are deleted without a delay. */
const MAX_COLLECTED = 200;
/** The platform has ended a request that still collects after this time: the next one takes its place. */
const STUCK_MS = 5_000;

/** The IDs of the rows, by their tables. */
interface Collected {
  readonly commands: string[];
  readonly events: string[];
  /** When the request began that deletes them (epoch ms). */
  since: number;
}

interface Ports {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms` milliseconds. */
  wait(ms: number): Promise<unknown>;
}

/**
 * A transaction of D1 costs more than a row in it. If the rows are lost with the request that collects them, the cron
 * trigger relays them again, and their receivers know them by their IDs. Requests share nothing but data: the platform
 * lets none wait for what another one does.
 */
export class RelayedRows {
  readonly #ports: Ports;
  readonly #collected = new Map<string, Collected>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Deletes the row in a while. Most requests defer nothing: the row joins those that another one deletes. */
  delete(
    { db, defer }: Pick<RequestContext, "db" | "defer">,
    accountId: string,
    kind: "commands" | "events",
    id: string,
  ): void {
    const now = this.#ports.now();
    const known = this.#collected.get(accountId);
    const rows = known ?? { commands: [], events: [], since: now };
    this.#collected.set(accountId, rows);
    rows[kind].push(id);
    if (rows.commands.length + rows.events.length >= MAX_COLLECTED) {
      defer(this.#deleteNow(db, accountId, rows));
    } else if (known === undefined || now - known.since >= STUCK_MS) {
      rows.since = now;
      defer(this.#deleteLater(db, accountId, rows));
    }
  }

  async #deleteLater(db: Database, accountId: string, rows: Collected): Promise<void> {
    await this.#ports.wait(COLLECT_MS);
    await this.#deleteNow(db, accountId, rows);
  }

  async #deleteNow(db: Database, accountId: string, rows: Collected): Promise<void> {
    if (this.#collected.get(accountId) === rows) this.#collected.delete(accountId);
    await deleteRows(db, rows);
  }
}

async function deleteRows(db: Database, { commands, events }: Collected): Promise<void> {
  const [first, ...others] = [
    ...(commands.length === 0 ? [] : [deleteOutboxEntries(commands.splice(0))]),
    ...(events.length === 0 ? [] : [deleteEvents(events.splice(0))]),
  ];
  if (first !== undefined) await db.run([first, ...others]);
}

/** The relayed rows of all requests of the isolate. */
export const relayedRows = new RelayedRows({
  now: () => Date.now(),
  wait: sleep,
});
