/** Hands committed changes and events on, at once and, after a crash, from where their batches left them. */
import type { RequestContext } from "../context/context.ts";
import type { Database, Page, Statement } from "../platform/d1.ts";
import type { RoomGateway } from "../realtime/gateway.ts";
import type { RoomSnapshot } from "../realtime/snapshots.ts";
import { presentRoom, type RoomStats } from "../rooms/schema.ts";
import type { RoomRow } from "../rooms/table.ts";
import { presentUser } from "../users/schema.ts";
import type { UserRow } from "../users/table.ts";
import { presentEvent } from "./events.ts";
import { fanOut } from "./fan-out.ts";
import { deleteOutboxEntry, type OutboxEntry, selectPendingCommands } from "./outbox-store.ts";
import type { RoomCommand } from "./room-command.ts";
import type { OutgoingEvent, SubscriberGateway } from "./subscriber-port.ts";
import { parseSubscriptions } from "./subscriptions.ts";
import type { UserEventRow } from "./table.ts";
import {
  deleteUserEvent,
  selectPendingUserEvents,
  type UserEventEntry,
  updatePendingSubscriptions,
} from "./user-event-store.ts";

/** An entry this old was left by a request that did not live to hand it on. */
const LEFT_BEHIND_AFTER_MS = 15_000;
const SWEEP_SIZE = 100;
/** More than a sweep of one minute should do. */
const MAX_PAGES = 50;

const UNKNOWN: Pick<RoomSnapshot, "attendance"> = { attendance: {} };

/** What handing on needs: a request's context has it, and so has the cron trigger. */
export interface RelayPorts {
  readonly db: Database;
  readonly rooms: RoomGateway;
  readonly subscribers: SubscriberGateway;
  log(message: string, error: unknown): void;
}

/** The outbox entry for a change that the request is about to commit. */
export const newOutboxEntry = (ctx: RequestContext, roomId: string, command: RoomCommand): OutboxEntry => ({
  id: ctx.newId(),
  accountId: ctx.accountId,
  roomId,
  command,
});

/** The event of a user that the request is about to commit. */
export const newUserEvent = (
  ctx: RequestContext,
  event: UserEventEntry["event"],
  roomId: string,
  userId: string,
): UserEventEntry => ({ id: ctx.newId(), event, roomId, userId, occurredAt: ctx.now() });

/**
 * Tells the room of a change that is committed. The request's answer does not depend on it: when the room
 * cannot be reached, the entry stays and {@link relayPending} tells it later; null then.
 */
export async function relayCommand(ctx: RequestContext, entry: OutboxEntry): Promise<RoomStats | null> {
  try {
    const figures = await ctx.rooms.apply(entry.roomId, entry.accountId, entry.command);
    ctx.defer(ctx.db.run([deleteOutboxEntry(entry.id)]));
    return figures;
  } catch (error) {
    ctx.log(`A change could not be handed on to its room yet: ${entry.command.type}`, error);
    return null;
  }
}

/**
 * Hands on what the batch of a user's change has left behind: `owed` to its room, then `told` to those who
 * listen. So what the room itself has told them before, they are given before. Never rejects.
 */
export async function relayUserChange(
  ctx: RequestContext,
  entry: OutboxEntry,
  owed: readonly unknown[],
  told: readonly UserEventRow[],
): Promise<void> {
  // Without its room's word the event waits for the sweep, which asks the room first as well.
  if (owed.length > 0 && (await relayCommand(ctx, entry)) === null) return;
  for (const row of told) {
    try {
      const { note } = await tell(ctx, row);
      ctx.defer(ctx.db.run([note]));
    } catch (error) {
      ctx.log(`An event could not be handed on yet: ${row.event}`, error);
    }
  }
}

/** Gives the event to those who are owed it; `note` is the statement that writes down how far that went. */
async function tell(
  { rooms, subscribers, log }: RelayPorts,
  row: UserEventRow,
): Promise<{ readonly note: Statement; readonly isTold: boolean }> {
  const envelope = await envelopeOf(row, rooms);
  const owed = await fanOut(subscribers, row.accountId, [{ envelope, to: parseSubscriptions(row.owed) }]);
  const remaining = owed.get(row.id);
  if (remaining === undefined) return { note: deleteUserEvent(row.id), isTold: true };
  log(`An event could not be given to ${remaining.length} of its subscribers yet: ${row.event}`, null);
  return { note: updatePendingSubscriptions(row.id, JSON.stringify(remaining)), isTold: false };
}

async function envelopeOf(row: UserEventRow, rooms: RoomGateway): Promise<OutgoingEvent> {
  const { id: eventId, event, occurredAt } = row;
  const room = parseRoom(row.room);
  const user = parseUser(row.user);
  // A user who was just created or deleted is offline; of others only a room that was ever joined knows more.
  const { attendance } =
    event === "user.updated" && room.firstJoinAt !== null
      ? await rooms.read(room.id, row.accountId, [user.id])
      : UNKNOWN;
  const body = presentEvent(eventId, occurredAt, {
    event,
    data: { roomId: room.id, userId: user.id },
    room: presentRoom(room, occurredAt),
    user: presentUser(user, attendance[user.id]),
  });
  return { eventId, event, roomId: room.id, body, occurredAt };
}

/** Rows as `insertUserEvent` wrote them. */
const parseRoom = (json: string): RoomRow => JSON.parse(json) as RoomRow;
const parseUser = (json: string): UserRow => JSON.parse(json) as UserRow;

/**
 * Hands on what crashed requests left behind; rooms and subscribers take things twice without harm. What
 * cannot be handed on keeps nothing else waiting: it is tried again at the next sweep.
 */
export async function relayPending(ports: RelayPorts, now: number): Promise<void> {
  const { db, rooms, log } = ports;
  const before = now - LEFT_BEHIND_AFTER_MS;
  const changes = inPages(
    db,
    (page) => selectPendingCommands(before, page),
    async (row) => {
      await rooms.apply(row.roomId, row.accountId, JSON.parse(row.change) as RoomCommand);
      await db.run([deleteOutboxEntry(row.id)]);
      return true;
    },
    (error) => log("A change that was left behind could not be handed on yet", error),
  );
  const events = inPages(
    db,
    (page) => selectPendingUserEvents(before, page),
    async (row) => {
      const { note, isTold } = await tell(ports, row);
      await db.run([note]);
      return isTold;
    },
    (error) => log("An event that was left behind could not be handed on yet", error),
  );
  await Promise.all([changes, events]);
}

/** Handles rows page by page. Those that are done with are gone; the next page begins behind the others. */
async function inPages<Row>(
  db: Database,
  select: (page: Pick<Page, "limit" | "offset">) => Statement<Row>,
  isDone: (row: Row) => Promise<boolean>,
  failed: (error: unknown) => void,
): Promise<void> {
  let offset = 0;
  for (let page = 0, isFull = true; isFull && page < MAX_PAGES; page += 1) {
    const [rows] = await db.run([select({ limit: SWEEP_SIZE, offset })]);
    for (const row of rows) {
      const isGone = await isDone(row).catch(failed);
      if (isGone !== true) offset += 1;
    }
    isFull = rows.length === SWEEP_SIZE;
  }
}
