/** Presents the events of D1's outbox, from the rows that were current when they happened. */
import type { RoomGateway } from "../room/host/gateway.ts";
import type { EventCause } from "../wire/event-cause.ts";
import { type EventDraft, presentEvent } from "../wire/events.ts";
import { type FileRecord, presentFile } from "../wire/file.ts";
import { presentRoom, type RoomFields } from "../wire/room.ts";
import { presentUser, type UserRecord } from "../wire/user.ts";
import type { OutboxEventRow } from "./outbox/table.ts";

/** The event's JSON. */
export async function presentOutboxEvent(rooms: RoomGateway, row: OutboxEventRow): Promise<string> {
  const room = parseRoom(row.room);
  return presentEvent(row.id, row.occurredAt, await draftOf(rooms, row, room), causeOf(row));
}

async function draftOf(
  rooms: RoomGateway,
  { event, occurredAt, subject }: OutboxEventRow,
  row: RoomFields,
): Promise<EventDraft> {
  const [roomId, room] = [row.id, presentRoom(row, occurredAt)];
  switch (event) {
    case "user.created":
    case "user.updated":
    case "user.deleted": {
      const user = parseUser(subject);
      const lastSeen = event === "user.updated" ? await lastSeenOf(rooms, row, user.id) : undefined;
      return { event, data: { roomId, userId: user.id }, room, user: presentUser(user, lastSeen) };
    }
    case "file.uploaded":
    case "file.deleted": {
      const { origin, by, cause: _, ...file } = parseFile(subject);
      const data = { roomId, key: file.key, ...(by === null ? {} : { userId: by }) };
      return { event, data, room, file: presentFile(file, origin) };
    }
    case "room.created":
    case "room.updated":
    case "room.closed":
    case "room.deleted":
      return { event, data: { roomId }, room };
  }
}

/** Only files are changed by workflows, among what has events in D1. */
const causeOf = ({ event, subject }: OutboxEventRow): EventCause | null =>
  event === "file.uploaded" || event === "file.deleted" ? parseFile(subject).cause : null;

/** Only the room knows whether an updated user is online; a room that was never joined knows nothing. */
const lastSeenOf = async (rooms: RoomGateway, { id, accountId, firstJoinAt }: RoomFields, userId: string) =>
  firstJoinAt === null ? undefined : (await rooms.read(id, accountId, [userId])).lastSeen[userId];

/** As the statements of the features wrote them (`insertEvent`). */
const parseRoom = (json: string): RoomFields => JSON.parse(json) as RoomFields;
const parseUser = (json: string): UserRecord => JSON.parse(json) as UserRecord;
type StoredFile = FileRecord & {
  readonly origin: string;
  readonly by: string | null;
  readonly cause: EventCause | null;
};
const parseFile = (json: string): StoredFile => JSON.parse(json) as StoredFile;
