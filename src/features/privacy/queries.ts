/** Exports the personal data of a user, or of an identity in all rooms, in bounded slices. */

import { Comment } from "@atrium/contract/resources/comment.ts";
import { EventOfIdentity } from "@atrium/contract/resources/events.ts";
import { presentSession } from "@atrium/contract/resources/user.ts";
import type {
  IdentityData,
  PersonalData,
  PersonalRecord,
  RecordOfIdentity,
} from "@atrium/contract/rest/privacy.ts";
import { presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import { decodeCursor, decodePosition, encodeCursor, toPage } from "../../http/lists.ts";
import { forEachConcurrently } from "../../platform/flow/concurrency.ts";
import { PERSONAL_PARTS, type RoomRecordOfUser } from "../../room/types/room-object.ts";
import { findEntriesOf } from "../access/queries.ts";
import { type EventLogContext, findEventsNaming } from "../events/queries.ts";
import type { FileContext } from "../files/context.ts";
import { listFiles } from "../files/queries.ts";
import type { IdentityContext } from "../identities/commands.ts";
import { findIdentity, findUsersOf, listGroupsOf, noIdentity } from "../identities/queries.ts";
import { exportInbox, type InboxContext } from "../inbox/commands.ts";
import { findRoomsAfter, getRoomRow } from "../rooms/queries.ts";
import type { UserContext } from "../users/context.ts";
import { findUser } from "../users/queries.ts";

/** The ports of all features that keep data of users. */
export interface PrivacyContext
  extends UserContext,
    Omit<IdentityContext, "inboxes">,
    FileContext,
    EventLogContext {
  readonly inboxes: InboxContext["inboxes"];
}

/** Records that end a page, and reads that end it if most found none. */
const ENOUGH_RECORDS = 100;
const MAX_READS = 10;
const FILES_AT_ONCE = 100;

interface Slice {
  readonly records: readonly PersonalRecord[];
  readonly next: string | null;
}

/** A page of the personal data of a user, who may be deleted. NOT_FOUND without the room. */
export async function getPersonalData(
  ctx: PrivacyContext,
  roomId: string,
  userId: string,
  start: ExportPosition,
): Promise<PersonalData> {
  await getRoomRow(ctx, roomId);
  const { records, position } = await readOfUser(ctx, { roomId, id: userId }, start);
  return { records, cursor: position && encodeCursor([position.section, position.after]) };
}

async function readOfUser(
  ctx: PrivacyContext,
  { roomId, id }: UserInRoom,
  start: ExportPosition,
): Promise<{ records: PersonalRecord[]; position: ExportPosition | null }> {
  const records: PersonalRecord[] = [];
  let position: ExportPosition | null = start;
  for (let reads = 0; position !== null && reads < MAX_READS && records.length < ENOUGH_RECORDS; reads += 1) {
    const { section }: ExportPosition = position;
    const { records: some, next }: Slice = await readSlice(ctx, roomId, id, position);
    records.push(...some);
    position = next === null ? nextSection(section) : { section, after: next };
  }
  return { records, position };
}

interface UserInRoom {
  readonly id: string;
  readonly roomId: string;
}

/** Parts that end a page of this export: each is of one room, or of the identity itself. */
const MAX_PARTS = 10;
const ENTRIES_AT_ONCE = 100;

/** A page of the personal data of an identity, which may be deleted. NOT_FOUND without it and without users of it. */
export async function getIdentityData(
  ctx: PrivacyContext,
  identityId: string,
  start: IdentityPosition,
): Promise<IdentityData> {
  const [identity, [user]] = await Promise.all([
    findIdentity(ctx, { id: identityId }),
    findUsersOf(ctx, identityId, "", 1),
  ]);
  if (identity === null && user === undefined) throw noIdentity();
  const records: RecordOfIdentity[] = [];
  let position: IdentityPosition | null = start;
  for (let parts = 0; position !== null && parts < MAX_PARTS && records.length < ENOUGH_RECORDS; parts += 1) {
    const part: IdentityPart = await readPart(ctx, identityId, position);
    records.push(...part.records);
    position = part.next;
  }
  return {
    records,
    cursor: position && encodeCursor([position.part, position.after, position.inRoom ?? null]),
  };
}

interface IdentityPart {
  readonly records: readonly RecordOfIdentity[];
  readonly next: IdentityPosition | null;
}

async function readPart(
  ctx: PrivacyContext,
  identityId: string,
  { part, after, inRoom }: IdentityPosition,
): Promise<IdentityPart> {
  switch (part) {
    case "identity": {
      const identity = await findIdentity(ctx, { id: identityId });
      const groups = identity === null ? [] : (await listGroupsOf(ctx, identityId)).groups;
      return {
        records: [
          ...(identity === null ? [] : [{ type: "identity", identity } as const]),
          ...groups.map((group) => ({ type: "group", group }) as const),
        ],
        next: { part: "access", after: "" },
      };
    }
    case "access": {
      const entries = await findEntriesOf(ctx, identityId, after, ENTRIES_AT_ONCE);
      const last = entries.length === ENTRIES_AT_ONCE ? entries.at(-1) : undefined;
      return {
        records: entries.map(({ roomId, permissions }) => ({ type: "access", room_id: roomId, permissions })),
        next: last === undefined ? { part: "events", after: "" } : { part, after: last.roomId },
      };
    }
    case "events": {
      // The ID of an identity stands for the room of its events.
      const { events, next } = await findEventsNaming(ctx, identityId, identityId, after || null);
      return {
        records: events.map((event) => ({ type: "event", event: EventOfIdentity.parse(event) })),
        next: next === null ? { part: "inbox", after: "" } : { part, after: next },
      };
    }
    case "inbox": {
      const { notifications, next, beside } = await exportInbox(ctx, identityId, after);
      const { settings = null, sent = [], subscriptions = [] } = beside ?? {};
      return {
        records: [
          ...(settings === null ? [] : [{ type: "notification_settings", settings } as const]),
          ...subscriptions.map((subscription) => ({ type: "push_subscription", subscription }) as const),
          ...sent.map((each) => ({ type: "sent_notifications", sent: each }) as const),
          ...notifications.map((notification) => ({ type: "inbox_notification", notification }) as const),
        ],
        next: next === null ? { part: "rooms", after: "" } : { part, after: next },
      };
    }
    case "rooms":
      return readRoom(ctx, identityId, after, inRoom ?? null);
    case "named":
      return inRoom === undefined
        ? readNamingRooms(ctx, identityId, after)
        : readNaming(ctx, after, identityId, inRoom);
  }
}

/** Any room may name an identity: a mention needs no access. */
const ROOMS_AT_ONCE = 30;
const CONCURRENCY = 10;
const NAMING_COMMENTS: ExportPosition = { section: "comments", after: null };
const NAMING_THREADS: ExportPosition = { section: "threads", after: null };

/**
 * A chunk of a room's data about an identity itself: mentions, and read positions and settings without a user
 * there.
 */
async function readNaming(
  ctx: PrivacyContext,
  roomId: string,
  identityId: string,
  start: ExportPosition,
): Promise<IdentityPart> {
  const records: PersonalRecord[] = [];
  let position: ExportPosition | null = start;
  for (let reads = 0; position !== null && reads < MAX_READS; reads += 1) {
    const { section }: ExportPosition = position;
    const { records: some, next }: Slice = await readSlice(ctx, roomId, identityId, position);
    records.push(...some);
    const following: ExportPosition | null = section === "comments" ? NAMING_THREADS : null;
    position = next === null ? following : { section, after: next };
  }
  return {
    records: records.map((record) => ({ type: "named_in_room", room_id: roomId, record }) as const),
    next: { part: "named", after: roomId, ...(position && { inRoom: position }) },
  };
}

/** The rooms behind one; the first that is too large to be read whole ends the part. */
async function readNamingRooms(
  ctx: PrivacyContext,
  identityId: string,
  after: string,
): Promise<IdentityPart> {
  const rooms = await findRoomsAfter(ctx, after, ROOMS_AT_ONCE);
  const read = new Map<string, IdentityPart>();
  await forEachConcurrently(CONCURRENCY, rooms, async (roomId) => {
    read.set(roomId, await readNaming(ctx, roomId, identityId, NAMING_COMMENTS));
  });
  const records: RecordOfIdentity[] = [];
  for (const roomId of rooms) {
    const part = read.get(roomId);
    records.push(...(part?.records ?? []));
    if (part?.next?.inRoom !== undefined) return { records, next: part.next };
  }
  const last = rooms.length === ROOMS_AT_ONCE ? rooms.at(-1) : undefined;
  return { records, next: last === undefined ? null : { part: "named", after: last } };
}

/** The rest of a room whose user is still there, or the room behind it. */
async function readRoom(
  ctx: PrivacyContext,
  identityId: string,
  roomId: string,
  inRoom: ExportPosition | null,
): Promise<IdentityPart> {
  const [user] = await findUsersOf(ctx, identityId, roomId, 1, inRoom !== null);
  if (user === undefined) return { records: [], next: { part: "named", after: "" } };
  const start = user.roomId === roomId ? inRoom : null;
  const { records, position } = await readOfUser(ctx, user, start ?? START);
  return {
    records: records.map((record) => ({ type: "in_room", room_id: user.roomId, user_id: user.id, record })),
    next: { part: "rooms", after: user.roomId, ...(position && { inRoom: position }) },
  };
}

async function readSlice(
  ctx: PrivacyContext,
  roomId: string,
  userId: string,
  { section, after }: ExportPosition,
): Promise<Slice> {
  switch (section) {
    case "user": {
      const user = await findUser(ctx, roomId, userId);
      return { records: user === null ? [] : [{ type: "user", user }], next: null };
    }
    case "files":
      return readFiles(ctx, roomId, userId, after);
    case "events": {
      const { events, next } = await findEventsNaming(ctx, roomId, userId, after);
      return { records: events.map((event) => ({ type: "event", event }) as const), next };
    }
    default: {
      const stub = ctx.rooms.stub(roomId);
      const { records, next } = await stub.readPersonalData(ctx.accountId, userId, section, after);
      return { records: records.map((record) => present(record, roomId)), next };
    }
  }
}

async function readFiles(
  ctx: PrivacyContext,
  roomId: string,
  userId: string,
  after: string | null,
): Promise<Slice> {
  const position = after === null ? undefined : (decodePosition(after) ?? undefined);
  const page = toPage({ limit: FILES_AT_ONCE, offset: 0, after: position });
  const { files, cursor } = await listFiles(ctx, roomId, { mediaTypes: [], uploadedBy: userId }, page);
  return { records: files.map((file) => ({ type: "file", file }) as const), next: cursor };
}

function present(record: RoomRecordOfUser, roomId: string): PersonalRecord {
  switch (record.type) {
    case "session":
      return { type: "session", session: presentSession({ ...record.session, roomId }) };
    case "follow":
      return { type: "follow", user_id: record.followedId };
    case "thread": {
      const { threadId: thread_id, readSeq: read_seq, subscribed } = record;
      return { type: "thread", thread_id, read_seq, subscribed };
    }
    case "settings":
      return { type: "subscription_settings", settings: record.settings };
    case "comment":
      return { type: "comment", comment: Comment.parse(JSON.parse(record.comment)) };
    case "mention":
    case "resolution":
      return { type: record.type, comment_id: record.commentId };
    case "reaction":
      return { type: "reaction", comment_id: record.commentId, reaction: record.reaction };
    case "document":
      return {
        type: "document",
        document: record.name,
        updates: record.updates,
        first_at: presentTime(record.firstAt),
        last_at: presentTime(record.at),
      };
    case "suggestion":
      return record;
    case "stream":
      return {
        type: "stream",
        stream: record.name,
        appends: record.appends,
        bytes: record.bytes,
        first_at: presentTime(record.firstAt),
        last_at: presentTime(record.at),
      };
  }
}

/** The sources in their order: D1's row, the room's parts, D1's files, the log's events. */
const SECTIONS = ["user", ...PERSONAL_PARTS, "files", "events"] as const;
type Section = (typeof SECTIONS)[number];

/** A place in a section; `after` is null at its start, else as the section returned it. */
export interface ExportPosition {
  readonly section: Section;
  readonly after: string | null;
}

const START: ExportPosition = { section: "user", after: null };

const Position = z
  .tuple([z.enum(SECTIONS), z.string().max(512).nullable()])
  .transform(([section, after]): ExportPosition => ({ section, after }));

export const decodeExportPosition = (cursor: string | undefined): ExportPosition | null =>
  cursor === undefined ? START : decodeCursor(Position, cursor);

const PARTS = ["identity", "access", "events", "inbox", "rooms", "named"] as const;

/** A place in the export of an identity; `after` is empty at the start of its part, else an entry's room, or as the log or the inbox returned it. */
export interface IdentityPosition {
  readonly part: (typeof PARTS)[number];
  readonly after: string;
  /** The place in the room `after`; absent behind it. */
  readonly inRoom?: ExportPosition;
}

const PositionOfIdentity = z
  .tuple([
    z.enum(PARTS),
    z.string().max(64),
    z.object({ section: z.enum(SECTIONS), after: z.string().max(512).nullable() }).nullable(),
  ])
  .transform(([part, after, inRoom]): IdentityPosition => ({ part, after, ...(inRoom && { inRoom }) }));

export const decodeIdentityPosition = (cursor: string | undefined): IdentityPosition | null =>
  cursor === undefined ? { part: "identity", after: "" } : decodeCursor(PositionOfIdentity, cursor);

function nextSection(section: Section): ExportPosition | null {
  const next = SECTIONS[SECTIONS.indexOf(section) + 1];
  return next === undefined ? null : { section: next, after: null };
}
