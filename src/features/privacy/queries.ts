/** Reads what is kept of a user, in slices that each cost little, whatever the room has. */
import * as z from "zod";
import { decodeCursor, decodePosition, encodeCursor, toPage } from "../../http/lists.ts";
import { presentTime } from "../../platform/time.ts";
import { PERSONAL_PARTS, type RoomRecordOfUser } from "../../room/types/room-object.ts";
import { Comment } from "../../wire/comment.ts";
import { presentSession } from "../../wire/user.ts";
import { type EventLogContext, findEventsNaming } from "../events/queries.ts";
import type { FileContext } from "../files/context.ts";
import { listFiles } from "../files/queries.ts";
import { getRoomRow } from "../rooms/queries.ts";
import type { UserContext } from "../users/context.ts";
import { findUser } from "../users/queries.ts";
import type { PersonalData, PersonalRecord } from "./schema.ts";

/** The ports of all features that keep data of users. */
export interface PrivacyContext extends UserContext, FileContext, EventLogContext {}

/** A page ends after so many records, or after so many reads of which most found none. */
const ENOUGH_RECORDS = 100;
const MAX_READS = 10;
const FILES_AT_ONCE = 100;

interface Slice {
  readonly records: readonly PersonalRecord[];
  readonly next: string | null;
}

/** A page of what is kept of a user, who may be deleted by now. NOT_FOUND without the room. */
export async function getPersonalData(
  ctx: PrivacyContext,
  roomId: string,
  userId: string,
  start: ExportPosition,
): Promise<PersonalData> {
  await getRoomRow(ctx, roomId);
  const records: PersonalRecord[] = [];
  let position: ExportPosition | null = start;
  for (let reads = 0; position !== null && reads < MAX_READS && records.length < ENOUGH_RECORDS; reads += 1) {
    const { section }: ExportPosition = position;
    const { records: some, next }: Slice = await readSlice(ctx, roomId, userId, position);
    records.push(...some);
    position = next === null ? nextSection(section) : { section, after: next };
  }
  return { records, cursor: position && encodeCursor([position.section, position.after]) };
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
    case "comment":
      return { type: "comment", comment: Comment.parse(JSON.parse(record.comment)) };
    case "mention":
      return { type: "mention", comment_id: record.commentId };
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

const Position = z
  .tuple([z.enum(SECTIONS), z.string().max(512).nullable()])
  .transform(([section, after]): ExportPosition => ({ section, after }));

export const decodeExportPosition = (cursor: string): ExportPosition | null => decodeCursor(Position, cursor);

function nextSection(section: Section): ExportPosition | null {
  const next = SECTIONS[SECTIONS.indexOf(section) + 1];
  return next === undefined ? null : { section: next, after: null };
}
