/** Relays the outbox: committed commands to their rooms and events of users to their subscribers. */
import type { RequestContext } from "../context/context.ts";
import type { Database, Page, Statement } from "../platform/d1.ts";
import type { RoomCommand } from "../realtime/port/room-command.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import { presentRoom } from "../rooms/schema.ts";
import type { RoomRow } from "../rooms/table.ts";
import { presentUser, type UserRecord } from "../users/schema.ts";
import { presentEvent } from "./events.ts";
import { fanOut } from "./fan-out.ts";
import {
  deleteOutboxEntry,
  deleteUserEvent,
  selectPendingCommands,
  selectPendingUserEvents,
  updatePendingSubscriptions,
} from "./outbox/outbox-store.ts";
import type { UserEventRow } from "./outbox/table.ts";
import type { SubscriberGateway } from "./port/subscriber-port.ts";

/** A row this old belongs to a request that died before it could relay it. */
const ABANDONED_AFTER_MS = 15_000;
const PAGE_SIZE = 100;
/** Bounds a run of the cron trigger, which follows every minute. */
const MAX_PAGES = 50;

/** What relaying needs, in a request and in the cron trigger alike. */
export interface RelayPorts {
  readonly db: Database;
  readonly rooms: RoomGateway;
  readonly subscribers: SubscriberGateway;
  log(message: string, error: unknown): void;
}

/** Relays committed events of users to their subscribers. Never rejects: the rest is left to {@link relayPending}. */
export async function relayUserEvents(
  ctx: RelayPorts & Pick<RequestContext, "defer">,
  events: readonly UserEventRow[],
): Promise<void> {
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
  rooms: RoomGateway,
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
const parseUser = (json: string): UserRecord => JSON.parse(json) as UserRecord;

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
