/** Relays the outbox: committed commands to their rooms and events to their subscribers. */
import type { RequestContext } from "../context/context.ts";
import type { Database, Page, Statement } from "../platform/d1.ts";
import { TIMED_OUT, withTimeLimit } from "../platform/time-limit.ts";
import type { TracedCommand } from "../realtime/port/room-command.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import {
  adoptUserEvents,
  deleteEvent,
  deleteOutboxEntry,
  selectAccountsOfCommands,
  selectAccountsOfEvents,
  selectEarlierEvents,
  selectPendingCommands,
  selectPendingEvents,
  updatePendingSubscriptions,
} from "./outbox/outbox-store.ts";
import { SharedWrites } from "./outbox/shared-writes.ts";
import type { OutboxEventRow } from "./outbox/table.ts";
import { presentOutboxEvent } from "./outbox-event.ts";
import type { SubscriberGateway } from "./port/subscriber-port.ts";
import { fanOut } from "./subscribers.ts";

/** A row this old belongs to a request that died before it could relay it. */
const ABANDONED_AFTER_MS = 15_000;
const PAGE_SIZE = 100;

/** What one run of the cron trigger may take. */
interface RelayLimits {
  /** Per row, in milliseconds: a room or subscriber that hangs costs no more. */
  readonly rowMs: number;
  /** Pages that may begin, of each kind of row. The next run follows within a minute. */
  readonly pages: number;
  /** Organizations at once, and rooms of each of them. */
  readonly concurrency: number;
  /** So many rooms of an organization that hang end the run for it, and for no other one. */
  readonly timeouts: number;
}

const LIMITS: RelayLimits = { rowMs: 5_000, pages: 200, concurrency: 4, timeouts: 8 };

/** What relaying needs, in a request and in the cron trigger alike. */
export interface RelayPorts {
  readonly db: Database;
  readonly rooms: RoomGateway;
  readonly subscribers: SubscriberGateway;
  log(message: string, error: unknown): void;
}

/** If they are lost with their request, the cron trigger relays the events again, and their receivers know them by their IDs. */
const outcomes = new SharedWrites(() => Date.now());

/** Of the events that a request has left behind, so many go ahead of another one. */
const MAX_EARLIER = 20;

/**
 * Relays committed events to their subscribers, behind those of the room that a request has left behind: no event
 * overtakes an earlier one because a request died in between. Never rejects: the rest is left to {@link relayPending}.
 */
export async function relayEvents(
  ctx: RelayPorts & Pick<RequestContext, "defer">,
  events: readonly OutboxEventRow[],
): Promise<void> {
  for (const row of events) {
    try {
      if (row.hasEarlier) await relayEarlier(ctx, row);
      const { outcome } = await relayEvent(ctx, row);
      ctx.defer(outcomes.run(ctx.db, row.accountId, outcome));
    } catch (error) {
      ctx.log(`An event could not be relayed yet: ${row.event}`, error);
    }
  }
}

async function relayEarlier(ctx: RelayPorts, row: OutboxEventRow): Promise<void> {
  const [earlier] = await ctx.db.run([selectEarlierEvents(row, MAX_EARLIER)]);
  for (const each of earlier) {
    const { outcome } = await relayEvent(ctx, each);
    await ctx.db.run([outcome]);
  }
}

/** Fans the event out. `outcome` is the statement that records how far that went. */
async function relayEvent(
  { db, rooms, subscribers, log }: RelayPorts,
  row: OutboxEventRow,
): Promise<{ readonly outcome: Statement; readonly isComplete: boolean }> {
  const { id, event, accountId, roomId, occurredAt, pendingSubscriptions, trace } = row;
  const body = await presentOutboxEvent(rooms, row);
  const unreached = await fanOut({ db, accountId }, subscribers, roomId, [
    { id, event, occurredAt, body, pendingSubscriptions, trace },
  ]);
  const remaining = unreached.get(id);
  if (remaining === undefined) return { outcome: deleteEvent(id), isComplete: true };
  log(`An event could not reach all of its subscribers yet: ${event}`, null);
  return { outcome: updatePendingSubscriptions(id, remaining), isComplete: false };
}

/**
 * Relays what requests left behind when they died; rooms and subscribers accept repetitions. What cannot be relayed
 * delays no other room: the next run of the cron trigger tries it again.
 */
export async function relayPending(ports: RelayPorts, now: number, limits = LIMITS): Promise<void> {
  const { db, rooms, log } = ports;
  const before = now - ABANDONED_AFTER_MS;
  await db.run(adoptUserEvents(before));
  const commands = forEachRow(db, limits, {
    accounts: () => selectAccountsOfCommands(before),
    select: (accountId, page) => selectPendingCommands(accountId, before, page),
    roomOf: ({ roomId }) => roomId,
    relay: async (row) => {
      await rooms.apply(row.roomId, row.accountId, parseCommand(row.command));
      await db.run([deleteOutboxEntry(row.id)]);
      return true;
    },
    failed: (error) => log("A pending command could not be relayed to its room yet", error),
  });
  const events = forEachRow(db, limits, {
    accounts: () => selectAccountsOfEvents(before),
    select: (accountId, page) => selectPendingEvents(accountId, before, page),
    roomOf: ({ roomId }) => roomId,
    relay: async (row) => {
      const { outcome, isComplete } = await relayEvent(ports, row);
      await db.run([outcome]);
      return isComplete;
    },
    failed: (error) => log("A pending event could not be relayed yet", error),
  });
  await Promise.all([commands, events]);
}

/** As `insertOutboxEntry` wrote it. */
const parseCommand = (json: string): TracedCommand => JSON.parse(json) as TracedCommand;

/** How rows of one kind are relayed. */
interface Relay<Row> {
  /** The organizations that have some. */
  accounts(): Statement<{ accountId: string }>;
  select(accountId: string, page: Pick<Page, "limit" | "offset">): Statement<Row>;
  roomOf(row: Row): string;
  /** Returns true when it has deleted the row. */
  relay(row: Row): Promise<boolean>;
  failed(error: unknown): void;
}

/** How far one organization's rows are relayed in this run. */
interface Turn {
  readonly accountId: string;
  /** The rows that are left behind. */
  readonly offset: number;
  readonly timeouts: number;
}

/** Relays one page of each organization's rows in turns, several at once, until nothing is left or the run may take no more. */
async function forEachRow<Row>(db: Database, limits: RelayLimits, kind: Relay<Row>): Promise<void> {
  const [accounts] = await db.run([kind.accounts()]);
  const turns: Turn[] = accounts.map(({ accountId }) => ({ accountId, offset: 0, timeouts: 0 }));
  let { pages } = limits;
  const takeTurns = async (): Promise<void> => {
    for (let turn = turns.shift(); turn !== undefined && pages > 0; turn = turns.shift()) {
      pages -= 1;
      const next = await relayPage(db, turn, limits, kind);
      if (next !== null && next.timeouts < limits.timeouts) turns.push(next);
    }
  };
  await inParallel(limits.concurrency, takeTurns);
}

/** Relays a page of an organization's rows, several rooms at once. Returns where to go on; null after the last page. */
async function relayPage<Row>(
  db: Database,
  { accountId, offset, timeouts }: Turn,
  limits: RelayLimits,
  kind: Relay<Row>,
): Promise<Turn | null> {
  const [rows] = await db.run([kind.select(accountId, { limit: PAGE_SIZE, offset })]);
  let next = { accountId, offset, timeouts };
  const rooms = Map.groupBy(rows, (row) => kind.roomOf(row)).values();
  await inParallel(limits.concurrency, async () => {
    for (const rowsOfRoom of rooms) {
      const { left, isTimeout } = await relayRoom(rowsOfRoom, limits, kind);
      next = { accountId, offset: next.offset + left, timeouts: next.timeouts + Number(isTimeout) };
      if (next.timeouts >= limits.timeouts) return;
    }
  });
  return rows.length === PAGE_SIZE ? next : null;
}

const inParallel = (count: number, work: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work));

/** Relays the rows of one room in order, and returns how many are left. One that takes too long ends it. */
async function relayRoom<Row>(
  rows: readonly Row[],
  { rowMs }: RelayLimits,
  kind: Relay<Row>,
): Promise<{ readonly left: number; readonly isTimeout: boolean }> {
  let left = 0;
  for (const [index, row] of rows.entries()) {
    const result = await withTimeLimit(kind.relay(row), rowMs).catch((error: unknown) => {
      kind.failed(error);
      return false;
    });
    if (result === TIMED_OUT) {
      kind.failed(new Error("The room or a subscriber did not respond in time"));
      return { left: left + rows.length - index, isTimeout: true };
    }
    if (!result) left += 1;
  }
  return { left, isTimeout: false };
}
