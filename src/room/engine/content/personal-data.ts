/** The stored data of one user of the room, in slices for an export. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { StoredDocument } from "../../storage/sqlite-documents.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { PersonalPart, RecordsOfUser, RoomRecordOfUser } from "../../types/room-object.ts";
import type { RoomComments } from "./comments.ts";

const SESSIONS_AT_ONCE = 500;
/** A comment can have some 90 KB, and a call returns 32 MiB at most. */
const COMMENTS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 2_000;

const END = { records: [], next: null };

/** The suggestions of users, some at a time. */
interface SuggestionsOfUsers {
  ofUser(userId: string, after: string | null): RecordsOfUser;
}

/** Reads a slice from the position that the one before returned; null for the start. */
export function readPersonalData(
  storage: RoomStorage,
  comments: RoomComments,
  suggestions: SuggestionsOfUsers,
  userId: string,
  part: PersonalPart,
  after: string | null,
): RecordsOfUser {
  switch (part) {
    case "sessions":
      return sessionsOf(storage, userId, after);
    case "follows":
      return {
        records: storage.follows
          .listFollowed(userId)
          .map((followedId) => ({ type: "follow", followedId }) as const),
        next: null,
      };
    case "comments": {
      const part = { after: Number(after ?? 0), limit: COMMENTS_AT_ONCE };
      const { comments: some, next } = comments.part(part);
      return {
        records: some.flatMap((comment) => recordsOf(comment, userId)),
        next: next === null ? null : String(next),
      };
    }
    case "threads": {
      const settings = storage.threads.settingsOfUser(userId);
      return {
        records: [
          ...storage.threads.listOfUser(userId).map((state) => ({ type: "thread", ...state }) as const),
          ...(settings === null ? [] : [{ type: "settings", settings } as const]),
        ],
        next: null,
      };
    }
    case "documents":
      return documentsOf(storage, userId, after);
    case "suggestions":
      return suggestions.ofUser(userId, after);
    case "streams":
      return streamsOf(storage, userId, after);
  }
}

function sessionsOf(storage: RoomStorage, userId: string, after: string | null): RecordsOfUser {
  const sessions = storage.listSessions(userId, SESSIONS_AT_ONCE, after ?? undefined);
  return {
    records: sessions.map((session) => ({ type: "session", session }) as const),
    next: sessions.length < SESSIONS_AT_ONCE ? null : (sessions.at(-1)?.id ?? null),
  };
}

function recordsOf(comment: Comment, userId: string): RoomRecordOfUser[] {
  const { id: commentId, mentions, mentioned = [], reactions, resolved_by } = comment;
  const isMentioned = mentions.includes(userId) || mentioned.some(({ id }) => id === userId);
  return [
    ...(comment.user_id === userId ? [{ type: "comment", comment: JSON.stringify(comment) } as const] : []),
    ...(isMentioned ? [{ type: "mention", commentId } as const] : []),
    ...(resolved_by === userId ? [{ type: "resolution", commentId } as const] : []),
    ...Object.entries(reactions).flatMap(([reaction, users]) =>
      users.includes(userId) ? [{ type: "reaction", commentId, reaction } as const] : [],
    ),
  ];
}

/** One document at a time, by its number; `after` is the number and the last update that was looked at. */
function documentsOf(storage: RoomStorage, userId: string, after: string | null): RecordsOfUser {
  const [id = 0, seq = 0] = (after ?? "").split(" ").map(Number);
  const documents = storage.documents.list().toSorted((one, other) => one.id - other.id);
  const document = documents.find((each) => each.id >= id);
  if (document === undefined) return END;
  const from = document.id === id ? seq : 0;
  const range = { after: from, upTo: Number.MAX_SAFE_INTEGER, limit: ENTRIES_AT_ONCE };
  const entries = storage.documents.listEntries(document.id, range);
  const last = entries.at(-1);
  const isCut = entries.length === ENTRIES_AT_ONCE && last !== undefined;
  const hasMore = isCut || document.id < (documents.at(-1)?.id ?? 0);
  const next = isCut ? `${document.id} ${last.seq}` : `${document.id + 1} 0`;
  const own = entries.filter(({ authors }) =>
    authors.some((author) => author.type === "user" && author.id === userId),
  );
  return { records: own.length === 0 ? [] : [summaryOf(document, own)], next: hasMore ? next : null };
}

/** Some appends of one stream at a time; `after` is its number, and the position to go on from. */
function streamsOf({ streams }: RoomStorage, userId: string, after: string | null): RecordsOfUser {
  const [id = 0, position = 0] = (after ?? "").split(" ").map(Number);
  const stream = streams.nextFrom(id);
  if (stream === null) return END;
  const from = stream.id === id ? position : 0;
  const end = streams.startAfter(stream.id, from, ENTRIES_AT_ONCE);
  const own = streams.countOf(stream.id, userId, from, end ?? Number.MAX_SAFE_INTEGER);
  const records = own === null ? [] : [{ type: "stream", name: stream.name, ...own } as const];
  return { records, next: end === null ? `${stream.id + 1} 0` : `${stream.id} ${end}` };
}

function summaryOf(
  { name }: StoredDocument,
  entries: readonly { readonly updates: number; readonly firstAt: number; readonly at: number }[],
): RoomRecordOfUser {
  return {
    type: "document",
    name,
    updates: entries.reduce((sum, { updates }) => sum + updates, 0),
    firstAt: Math.min(...entries.map(({ firstAt }) => firstAt)),
    at: Math.max(...entries.map(({ at }) => at)),
  };
}
