/** Relays the outbox: committed commands to their rooms and events to their subscribers. */

import { combined } from "@atrium/contract/errors.ts";
import { isOf } from "@atrium/contract/resources/event-names.ts";
import type { EventDraft, OrganizationEventDraft } from "@atrium/contract/resources/events.ts";
import { type FileRecord, presentFile } from "@atrium/contract/resources/file.ts";
import {
  type GroupRecord,
  type IdentityRecord,
  presentGroup,
  presentIdentity,
} from "@atrium/contract/resources/identity.ts";
import { type EventCause, presentEvent } from "@atrium/contract/resources/present-event.ts";
import { parseRoom, presentRoom, type RoomFields } from "@atrium/contract/resources/room.ts";
import { type NotificationRecord, presentReference } from "@atrium/contract/resources/sent-notification.ts";
import { parseUser, presentUser } from "@atrium/contract/resources/user.ts";
import { parseStored } from "@atrium/contract/stored.ts";
import { TtlCache } from "../platform/cache.ts";
import type { RequestContext } from "../platform/d1/context.ts";
import type { Database, Page, Statement } from "../platform/d1/d1.ts";
import { forEachConcurrently, roundRobin, TIMED_OUT, withTimeLimit } from "../platform/flow/concurrency.ts";
import { type CallBudget, newCallBudget, type WorkBudget } from "../platform/flow/work-budget.ts";
import type { RoomGateway } from "../room/host/gateway.ts";
import type { TracedCommand } from "../room/types/room-object.ts";
import { eraseFromLog } from "./event-log/shards.ts";
import { selectInboxShards } from "./inbox-store.ts";
import { callShards } from "./inboxes.ts";
import { selectEarlierEvents } from "./outbox/event-store.ts";
import { relayedRows } from "./outbox/outbox.ts";
import {
  continueCommand,
  deleteRelayed,
  ROOMS_AT_ONCE,
  selectAccountsWith,
  selectPendingCommands,
  selectPendingEvents,
  type Unfinished,
  updatePendingSubscriptions,
} from "./outbox/outbox-store.ts";
import type { OutboxEventRow } from "./outbox/table.ts";
import { type DeliveryObjects, fanOut } from "./subscribers.ts";

/** A row this old belongs to a request that died before it could relay it. */
const ABANDONED_AFTER_MS = 15_000;

const LIMITS: RelayLimits = { rowMs: 5_000, pages: 200, concurrency: 4, timeouts: 8 };

export interface RelayPorts extends DeliveryObjects {
  readonly db: Database;
  readonly rooms: RoomGateway;
  log(message: string, error: unknown): void;
}

/** Relayed events that may not be deleted yet: a slow database shows them as left behind. */
const relayed = new TtlCache<true>({ ttlMs: 10_000, maxEntries: 10_000 });

const MAX_EARLIER = 20;

/**
 * Relays committed events to their subscribers, after older rows of the room that died requests left: no event
 * overtakes an earlier one. Never rejects; the rest is left to {@link relayPending}.
 */
export async function relayEvents(
  ctx: RelayPorts & Pick<RequestContext, "defer">,
  events: readonly OutboxEventRow[],
  { calls }: CallBudget = newCallBudget(ctx.plan),
): Promise<void> {
  for (const row of events) {
    try {
      if (row.hasEarlier) await relayEarlier(ctx, row, calls);
      const remaining = await relayEvent(ctx, row, calls);
      const finish = () => {
        relayed.set(row.id, true, Date.now());
        relayedRows.delete(ctx, row.accountId, "events", row.id);
      };
      if (remaining === null && isOfInboxes(row))
        ctx.defer(
          forgetRoom(ctx, row, calls)
            .then(finish)
            .catch((error: unknown) => ctx.log("A deleted room is not out of all inboxes yet", error)),
        );
      else if (remaining === null) finish();
      else ctx.defer(ctx.db.run([updatePendingSubscriptions(row.id, remaining)]));
    } catch (error) {
      ctx.log(`An event could not be relayed yet: ${row.event}`, error);
    }
  }
}

async function relayEarlier(ctx: RelayPorts, row: OutboxEventRow, calls: WorkBudget): Promise<void> {
  const [earlier] = await ctx.db.run([selectEarlierEvents(row, MAX_EARLIER)]);
  const left = earlier.filter(({ id }) => relayed.get(id, Date.now()) === undefined);
  for (const each of left) await ctx.db.run([outcomeOf(each, await relayFully(ctx, each, calls))]);
}

const outcomeOf = ({ id }: OutboxEventRow, remaining: string | null): Statement =>
  remaining === null ? deleteRelayed("outbox_events", [id]) : updatePendingSubscriptions(id, remaining);

/** No subscription is left to be reached, but inboxes are. */
const INBOXES_ONLY = "[]";

/** Fans the event out. Returns the subscriptions that it could not reach, as JSON; null when it has reached all. */
async function relayEvent(
  { rooms, log, ...objects }: RelayPorts,
  row: OutboxEventRow,
  calls: WorkBudget,
): Promise<string | null> {
  const { id, event, accountId, roomId, occurredAt, pendingSubscriptions, trace } = row;
  calls.spend(); // the room's, which an event of a user asks
  const body = await presentOutboxEvent(rooms, row);
  const pending = { id, event, occurredAt, body, pendingSubscriptions, trace };
  const { left, failures } = await fanOut(accountId, objects, roomId, [pending], calls);
  if (event === "identity.deleted") {
    calls.spend();
    await eraseFromLog(objects.eventLogs, accountId, roomId, roomId);
    calls.spend();
    await objects.inboxes(accountId, roomId).remove([roomId]);
  }
  const remaining = left.get(id) ?? null;
  if (failures.length > 0)
    log(`An event could not reach all of its subscribers yet: ${event}`, combined(failures));
  return remaining === null && isOfInboxes(row) && !calls.hasLeft ? INBOXES_ONLY : remaining;
}

const isOfInboxes = ({ event }: OutboxEventRow): boolean => event === "room.deleted";

async function relayFully(ports: RelayPorts, row: OutboxEventRow, calls: WorkBudget): Promise<string | null> {
  const remaining = await relayEvent(ports, row, calls);
  if (remaining === null && isOfInboxes(row)) await forgetRoom(ports, row, calls);
  return remaining;
}

/** Removes a deleted room's notifications from all inboxes: also from those that only the organization has notified. */
async function forgetRoom(
  { db, inboxes }: RelayPorts,
  { accountId, roomId }: OutboxEventRow,
  calls: WorkBudget,
): Promise<void> {
  if (!calls.hasLeft) throw new Error("The invocation may make no further call");
  const [rows] = await db.run([selectInboxShards({ accountId })]);
  const shards = rows.map(({ shard }) => shard);
  for (const _ of shards) calls.spend();
  await callShards(inboxes, accountId, shards, (shard) => shard.removeFromAll({ roomId }));
}

/**
 * Relays rows that died requests left; rooms and subscribers accept repetitions. A failed row delays no other
 * room, and waits for the next run of the cron trigger. Each run begins with the organization that follows a
 * random `firstId`, so that a run without time for all does not always skip the same ones.
 */
export async function relayPending(
  ports: RelayPorts,
  now: number,
  firstId: string,
  budget = newCallBudget(ports.plan),
  limits = LIMITS,
  roomsAtOnce = ROOMS_AT_ONCE,
): Promise<void> {
  const { db, rooms, log } = ports;
  const before = now - ABANDONED_AFTER_MS;
  const commands = forEachRow(db, limits, budget, {
    accounts: () => selectAccountsWith("outbox", before, firstId),
    select: (accountId, page) => selectPendingCommands(accountId, before, page),
    roomOf: ({ roomId }) => roomId,
    relay: async (row) => {
      const { behind, ...command } = parseCommand(row.command);
      if (behind !== undefined) {
        const all = { accountId: row.accountId, command: JSON.stringify(command), at: row.createdAt };
        await db.run(continueCommand(all, { ...row, behind }, roomsAtOnce));
      }
      budget.calls.spend();
      await rooms.apply(row.roomId, row.accountId, command);
      return true;
    },
    delete: (ids) => deleteRelayed("outbox", ids),
    failed: (error) => log("A pending command could not be relayed to its room yet", error),
  });
  const events = forEachRow(db, limits, budget, {
    accounts: () => selectAccountsWith("outbox_events", before, firstId),
    select: (accountId, page) => selectPendingEvents(accountId, before, page),
    roomOf: ({ roomId }) => roomId,
    relay: async (row) => {
      const remaining = await relayFully(ports, row, budget.calls);
      if (remaining !== null) await db.run([updatePendingSubscriptions(row.id, remaining)]);
      return remaining === null;
    },
    delete: (ids) => deleteRelayed("outbox_events", ids),
    failed: (error) => log("A pending event could not be relayed yet", error),
  });
  await Promise.all([commands, events]);
}

const PAGE_SIZE = 100;

interface RelayLimits {
  /** Limit per row, in milliseconds, for a room or subscriber that hangs. */
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

/**
 * Relays one page of each organization's rows in turns, several at once, until none is left or the budget is
 * spent.
 */
async function forEachRow<Row extends { readonly id: string }>(
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

const parseCommand = (json: string) =>
  JSON.parse(json) as TracedCommand & Partial<Pick<Unfinished, "behind">>;

const presentOutboxEvent = async (rooms: RoomGateway, row: OutboxEventRow): Promise<string> =>
  presentEvent(row.id, row.occurredAt, await draftOf(rooms, row), causeOf(row));

async function draftOf(
  rooms: RoomGateway,
  { event, occurredAt, subject, room: storedRoom }: OutboxEventRow,
): Promise<EventDraft | OrganizationEventDraft> {
  if (isOf("identity", event)) {
    const identity = presentIdentity(parseIdentity(subject));
    return { event, data: { identityId: identity.id }, identity };
  }
  if (isOf("group", event)) {
    const { member, ...group } = parseGroup(subject);
    const data = { groupId: group.id, ...(member === undefined ? {} : { identityId: member }) };
    return { event, data, group: presentGroup(group) };
  }
  if (event === "notification") {
    const { identity: stored, channel, items } = JSON.parse(subject) as NotificationRecord;
    const [identity, notifications] = [presentIdentity(stored), items.map(presentReference)];
    return { event, data: { identityId: identity.id, channel, notifications }, identity };
  }
  const row = parseRoom(storedRoom);
  const [roomId, room] = [row.id, presentRoom(row, occurredAt)];
  if (isOf("user", event)) {
    const user = parseUser(subject);
    const lastSeen = event === "user.updated" ? await lastSeenOf(rooms, row, user.id) : undefined;
    return { event, data: { roomId, userId: user.id }, room, user: presentUser(user, lastSeen) };
  }
  if (isOf("file", event)) {
    const { origin, by, cause: _, ...file } = parseFile(subject);
    const data = { roomId, key: file.key, ...(by === null ? {} : { userId: by }) };
    return { event, data, room, file: presentFile(file, origin) };
  }
  return { event, data: { roomId }, room };
}

/** Files are the only things with events in D1 that workflows change. */
const causeOf = ({ event, subject }: OutboxEventRow): EventCause | null =>
  isOf("file", event) ? parseFile(subject).cause : null;

/** Only the room knows whether an updated user is online; a room that was never joined knows nothing. */
const lastSeenOf = async (rooms: RoomGateway, { id, accountId, firstJoinAt }: RoomFields, userId: string) =>
  firstJoinAt === null ? undefined : (await rooms.read(id, accountId, [userId])).lastSeen[userId];

const parseIdentity = (json: string) =>
  parseStored<IdentityRecord>(json, { customId: null, profilePicture: null, email: null });

interface StoredGroup extends GroupRecord {
  /** The identity that was added to it or taken out of it. */
  readonly member?: string;
}
const parseGroup = (json: string) => parseStored<StoredGroup>(json, { customId: null });

type StoredFile = FileRecord & {
  readonly origin: string;
  readonly by: string | null;
  readonly cause: EventCause | null;
};
const parseFile = (json: string) => parseStored<StoredFile>(json, { by: null, cause: null });
