/** Relays the outbox: committed commands to their rooms and events of users to their subscribers. */
import type { Database, Page, Statement, Tenant } from "../platform/d1.ts";
import type { RoomCommand } from "../realtime/port/room-command.ts";
import { presentRoom, type RoomStats } from "../rooms/schema.ts";
import type { RoomRow } from "../rooms/table.ts";
import { type Attendance, presentUser } from "../users/schema.ts";
import type { UserRow } from "../users/table.ts";
import { presentEvent } from "./events.ts";
import { fanOut } from "./fan-out.ts";
import {
  deleteOutboxEntry,
  deleteUserEvent,
  type OutboxEntry,
  selectPendingCommands,
  selectPendingUserEvents,
  type UserEventEntry,
  updatePendingSubscriptions,
} from "./outbox/outbox-store.ts";
import type { UserEventRow } from "./outbox/table.ts";
import type { SubscriberGateway } from "./port/subscriber-port.ts";

/** A row this old belongs to a request that died before it could relay it. */
const ABANDONED_AFTER_MS = 15_000;
const PAGE_SIZE = 100;
/** Bounds a run of the cron trigger, which follows every minute. */
const MAX_PAGES = 50;

/** What the relay asks of live rooms. */
export interface LiveRooms {
  /** Carries out the command for everyone connected, and returns the stats after it. Repeating it is harmless. */
  apply(roomId: string, accountId: string, command: RoomCommand): Promise<RoomStats>;
  read(
    roomId: string,
    accountId: string,
    userIds: readonly string[],
  ): Promise<{ readonly attendance: Readonly<Record<string, Attendance>> }>;
}

/** What relaying needs, in a request and in the cron trigger alike. */
export interface RelayPorts {
  readonly db: Database;
  readonly rooms: LiveRooms;
  readonly subscribers: SubscriberGateway;
  log(message: string, error: unknown): void;
}

/** What a request needs to write outbox rows and relay them. */
interface RelayContext extends RelayPorts, Tenant {
  newId(): string;
  /** Epoch milliseconds. */
  now(): number;
  /** Finishes work after the response. */
  defer(work: Promise<unknown>): void;
}

/** The outbox entry for a command that follows from the change the request is about to commit. */
export const newOutboxEntry = (
  ctx: Pick<RelayContext, "newId" | "accountId">,
  roomId: string,
  command: RoomCommand,
): OutboxEntry => ({ id: ctx.newId(), accountId: ctx.accountId, roomId, command });

/** The event of a user that the request is about to commit. */
export const newUserEvent = (
  ctx: Pick<RelayContext, "newId" | "now">,
  event: UserEventEntry["event"],
  roomId: string,
  userId: string,
): UserEventEntry => ({ id: ctx.newId(), event, roomId, userId, occurredAt: ctx.now() });

/**
 * Relays a committed command to its room, and returns the stats after it. The response does not depend on it: when
 * the room cannot be reached, the result is null and the entry stays for {@link relayPending}.
 */
export async function relayCommand(ctx: RelayContext, entry: OutboxEntry): Promise<RoomStats | null> {
  try {
    const stats = await ctx.rooms.apply(entry.roomId, entry.accountId, entry.command);
    ctx.defer(ctx.db.run([deleteOutboxEntry(entry.id)]));
    return stats;
  } catch (error) {
    ctx.log(`A command could not be relayed to its room yet: ${entry.command.type}`, error);
    return null;
  }
}

/**
 * Relays what the batch of a user's change wrote: first the command to the room, if `entries` holds its outbox row,
 * then `events` to their subscribers. So they receive the events that the room records on the way first. Never
 * rejects.
 */
export async function relayUserChange(
  ctx: RelayContext,
  entry: OutboxEntry,
  entries: readonly unknown[],
  events: readonly UserEventRow[],
): Promise<void> {
  // An event must not overtake its room's events: without the room it waits for the cron trigger.
  if (entries.length > 0 && (await relayCommand(ctx, entry)) === null) return;
  for (const row of events) {
    try {
      const { outcome } = await relayUserEvent(ctx, row);
      ctx.defer(ctx.db.run([outcome]));
    } catch (error) {
      ctx.log(`An event could not be relayed yet: ${row.event}`, error);
    }
  }
}

/** Fans the event out. `outcome` is the statement that records how far that went. */
async function relayUserEvent(
  { db, rooms, subscribers, log }: RelayPorts,
  row: UserEventRow,
): Promise<{ readonly outcome: Statement; readonly isComplete: boolean }> {
  const { id, event, accountId, occurredAt, pendingSubscriptions } = row;
  const room = parseRoom(row.room);
  const body = await presentUserEvent(rooms, row, room);
  const unreached = await fanOut({ db, accountId }, subscribers, room.id, [
    { id, event, occurredAt, body, pendingSubscriptions },
  ]);
  const remaining = unreached.get(id);
  if (remaining === undefined) return { outcome: deleteUserEvent(id), isComplete: true };
  log(`An event could not reach all of its subscribers yet: ${event}`, null);
  return { outcome: updatePendingSubscriptions(id, remaining), isComplete: false };
}

/** The event's JSON. Only the room knows whether an updated user is online; a room that was never joined knows nothing. */
async function presentUserEvent(
  rooms: LiveRooms,
  { id, event, accountId, occurredAt, user: userJson }: UserEventRow,
  room: RoomRow,
): Promise<string> {
  const user = parseUser(userJson);
  const isMaybeOnline = event === "user.updated" && room.firstJoinAt !== null;
  const attendance = isMaybeOnline ? (await rooms.read(room.id, accountId, [user.id])).attendance : {};
  return presentEvent(id, occurredAt, {
    event,
    data: { roomId: room.id, userId: user.id },
    room: presentRoom(room, occurredAt),
    user: presentUser(user, attendance[user.id]),
  });
}

/** As `insertUserEvent` wrote them. */
const parseRoom = (json: string): RoomRow => JSON.parse(json) as RoomRow;
const parseUser = (json: string): UserRow => JSON.parse(json) as UserRow;

/**
 * Relays what requests left behind when they died; rooms and subscribers accept repetitions. A row that cannot be
 * relayed delays no other one: the next run of the cron trigger tries it again.
 */
export async function relayPending(ports: RelayPorts, now: number): Promise<void> {
  const { db, rooms, log } = ports;
  const before = now - ABANDONED_AFTER_MS;
  const commands = forEachRow(
    db,
    (page) => selectPendingCommands(before, page),
    async (row) => {
      await rooms.apply(row.roomId, row.accountId, parseCommand(row.command));
      await db.run([deleteOutboxEntry(row.id)]);
      return true;
    },
    (error) => log("A pending command could not be relayed to its room yet", error),
  );
  const events = forEachRow(
    db,
    (page) => selectPendingUserEvents(before, page),
    async (row) => {
      const { outcome, isComplete } = await relayUserEvent(ports, row);
      await db.run([outcome]);
      return isComplete;
    },
    (error) => log("A pending event could not be relayed yet", error),
  );
  await Promise.all([commands, events]);
}

/** As `insertOutboxEntry` wrote it. */
const parseCommand = (json: string): RoomCommand => JSON.parse(json) as RoomCommand;

/** Relays rows page by page. `relay` returns true when it has deleted the row; the next page begins behind those left. */
async function forEachRow<Row>(
  db: Database,
  select: (page: Pick<Page, "limit" | "offset">) => Statement<Row>,
  relay: (row: Row) => Promise<boolean>,
  onError: (error: unknown) => void,
): Promise<void> {
  let offset = 0;
  for (let page = 0, isFull = true; isFull && page < MAX_PAGES; page += 1) {
    const [rows] = await db.run([select({ limit: PAGE_SIZE, offset })]);
    for (const row of rows) {
      const isGone = await relay(row).catch(onError);
      if (isGone !== true) offset += 1;
    }
    isFull = rows.length === PAGE_SIZE;
  }
}
