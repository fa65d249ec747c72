/** Relays the rows of an outbox page by page, within limits of time, failures and calls. */
import type { Database, Page, Statement } from "../platform/d1/d1.ts";
import { forEachConcurrently, roundRobin, TIMED_OUT, withTimeLimit } from "../platform/flow/concurrency.ts";
import type { CallBudget } from "../platform/flow/work-budget.ts";

const PAGE_SIZE = 100;

export interface RelayLimits {
  /** Per row, in milliseconds: a room or subscriber that hangs costs no more. */
  readonly rowMs: number;
  /** Pages that may begin, of each kind of row. The next run follows within a minute. */
  readonly pages: number;
  readonly concurrency: number;
  /** Hanging rooms of one organization that end the run for it, and for no other one. */
  readonly timeouts: number;
}

interface Relay<Row extends { readonly id: string }> {
  accounts(): Statement<{ accountId: string }>;
  select(accountId: string, page: Pick<Page, "limit" | "offset">): Statement<Row>;
  roomOf(row: Row): string;
  relay(row: Row): Promise<boolean>;
  delete(ids: readonly string[]): Statement;
  failed(error: unknown): void;
}

interface Turn {
  readonly accountId: string;
  readonly offset: number;
  readonly timeouts: number;
}

/** Relays one page of each organization's rows in turns, several at once, until nothing is left or the run may take no more. */
export async function forEachRow<Row extends { readonly id: string }>(
  db: Database,
  limits: RelayLimits,
  budget: CallBudget,
  kind: Relay<Row>,
): Promise<void> {
  const [accounts] = await db.run([kind.accounts()]);
  const first: Turn[] = accounts.map(({ accountId }) => ({ accountId, offset: 0, timeouts: 0 }));
  await roundRobin(first, { turns: limits.pages, concurrency: limits.concurrency }, async (turn) => {
    if (!budget.queries.hasLeft) return null;
    const next = await relayPage(db, turn, limits, budget, kind);
    return next !== null && next.timeouts < limits.timeouts ? next : null;
  });
}

/** Relays a page of an organization's rows, several rooms at once. Returns where to go on; null after the last page. */
async function relayPage<Row extends { readonly id: string }>(
  db: Database,
  { accountId, offset, timeouts }: Turn,
  limits: RelayLimits,
  budget: CallBudget,
  kind: Relay<Row>,
): Promise<Turn | null> {
  const [rows] = await db.run([kind.select(accountId, { limit: PAGE_SIZE, offset })]);
  let next = { accountId, offset, timeouts };
  const done: string[] = [];
  const rooms = Map.groupBy(rows, (row) => kind.roomOf(row)).values();
  await forEachConcurrently(limits.concurrency, rooms, async (rowsOfRoom) => {
    if (next.timeouts >= limits.timeouts) return;
    const { relayed, isTimeout } = await relayRoom(rowsOfRoom, limits, budget, kind);
    done.push(...relayed);
    const left = rowsOfRoom.length - relayed.length;
    next = { accountId, offset: next.offset + left, timeouts: next.timeouts + Number(isTimeout) };
  });
  if (done.length > 0) {
    await db.run([kind.delete(done)]).catch((error: unknown) => {
      kind.failed(error);
      next = { ...next, offset: next.offset + done.length };
    });
  }
  return rows.length === PAGE_SIZE ? next : null;
}

/** Relays the rows of one room in order, and returns the IDs of those that are done. One that takes too long ends it. */
async function relayRoom<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { rowMs }: RelayLimits,
  { queries }: CallBudget,
  kind: Relay<Row>,
): Promise<{ readonly relayed: readonly string[]; readonly isTimeout: boolean }> {
  const relayed: string[] = [];
  for (const row of rows) {
    if (!queries.hasLeft) break;
    const result = await withTimeLimit(kind.relay(row), rowMs).catch((error: unknown) => {
      kind.failed(error);
      return false;
    });
    if (result === TIMED_OUT) {
      kind.failed(new Error("The room or a subscriber did not respond in time"));
      return { relayed, isTimeout: true };
    }
    if (result) relayed.push(row.id);
  }
  return { relayed, isTimeout: false };
}
