/** Sample events about a given room and users, to test a webhook or run a workflow by hand. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import { isOf } from "@atrium/contract/resources/event-names.ts";
import type { EventDraft, EventName } from "@atrium/contract/resources/events.ts";
import { fileUrl, type StorageFile } from "@atrium/contract/resources/file.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { Thread } from "@atrium/contract/resources/thread.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import { forkNameOf } from "@atrium/contract/suggestion-limits.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { createKey } from "../files/file-name.ts";

interface Sample {
  readonly room: Room;
  /** An event about a user is about the first. */
  readonly users: User[];
  readonly now: number;
  /** The origin with which the URL of a file begins. */
  readonly origin: string;
  newId(): string;
  /** The agent that an event mentions. */
  readonly agentId?: string | undefined;
}

/** Sessions, comments, stores, documents and files are made up. Throws for an event about a user when there is none. */
export function sampleDraft(event: EventName, sample: Sample): EventDraft {
  const { room, users, now, origin, newId } = sample;
  const [user] = users;
  const roomId = room.id;
  if (event === "session.closed") return { event, data: { roomId, sessionId: newId() }, room, users };
  if (event === "session.started") return { event, data: { roomId, sessionId: newId() }, room };
  if (event === "store.changed")
    return { event, data: { roomId, store: "test", fromSeq: 1, toSeq: 1 }, room };
  if (event === "document.created" || event === "document.deleted")
    return { event, data: { roomId, document: "test" }, room };
  if (event === "document.updated")
    return { event, data: { roomId, document: "test", fromSeq: 2, toSeq: 2 }, room };
  if (event === "version.created")
    return { event, data: { roomId, document: "test", version: 1, name: "Draft" }, room };
  if (event === "suggestion.created" || event === "suggestion.reviewed") {
    const suggestion = sampleSuggestion(newId(), now, event === "suggestion.reviewed");
    const data = { roomId, document: suggestion.document, suggestionId: suggestion.id };
    return event === "suggestion.created"
      ? { event, data, room, suggestion }
      : { event, data: { ...data, accepted: 1, rejected: 0 }, room, suggestion };
  }
  if (event === "access.changed" || isOf("room", event)) return { event, data: { roomId }, room };
  if (user === undefined) throw new Error("An event about a user needs a user");
  const userId = user.id;
  if (isOf("participant", event)) return { event, data: { roomId, userId, sessionId: newId() }, room, user };
  if (isOf("user", event)) return { event, data: { roomId, userId }, room, user };
  if (isOf("file", event)) {
    const file = sampleFile(room, user, now, origin);
    return { event, data: { roomId, key: file.key, userId }, room, file };
  }
  if (isOf("thread", event)) {
    const thread = sampleThread(newId(), room, now, event === "thread.resolved");
    return { event, data: { roomId, threadId: thread.id, userId }, room, thread };
  }
  const comment = sampleComment(newId(), user, now, event === "comment.resolved");
  if (event === "agent.mentioned") return sampleMention(comment, sample);
  return { event, data: { roomId, commentId: comment.id, threadId: comment.id, userId }, room, comment };
}

const sampleSuggestion = (id: string, now: number, isReviewed: boolean): Suggestion => ({
  id,
  document: "test",
  fork: forkNameOf(id),
  title: "A suggestion for testing",
  status: isReviewed ? "approved" : "pending",
  author: { type: "organization", id: null },
  created_at: presentTime(now),
  updated_at: presentTime(now),
  reviewed_by: isReviewed ? { type: "organization", id: null } : null,
  reviewed_at: isReviewed ? presentTime(now) : null,
  comment: null,
});

function sampleFile(room: Room, uploader: User, now: number, origin: string): StorageFile {
  const key = createKey(room.id, "test.txt");
  return {
    key,
    url: fileUrl(origin, room.account_id, key),
    filename: "test.txt",
    mimeType: "text/plain",
    size: 4,
    uploadedAt: presentTime(now),
    uploadedBy: uploader.id,
  };
}

const resolution = (now: number) => ({ resolved_at: presentTime(now), resolved_by: null });

const sampleThread = (id: string, room: Room, now: number, resolved: boolean): Thread => ({
  id,
  room_id: room.id,
  resolved,
  ...(resolved && resolution(now)),
  comment_count: 1,
  last_seq: 1,
  created_at: presentTime(now),
  updated_at: presentTime(now),
});

function sampleMention(comment: Comment, { room, newId, agentId = newId() }: Sample): EventDraft {
  const { id: threadId, user_id: userId } = comment;
  const ids = { roomId: room.id, threadId, commentId: comment.id, identityId: agentId, userId };
  return {
    event: "agent.mentioned",
    data: { ...ids, by: { identityId: null, kind: "person" }, depth: 1 },
    room,
    comment: { ...comment, mentioned: [{ kind: "user", id: agentId }] },
    thread: { id: threadId, user_id: userId, comments: [] },
  };
}

const sampleComment = (id: string, author: User, now: number, resolved: boolean): Comment => ({
  id,
  room_id: author.room_id,
  user_id: author.id,
  thread_id: id,
  text: "A comment for testing",
  anchor: null,
  mentions: [],
  reactions: {},
  resolved,
  ...(resolved && resolution(now)),
  created_at: presentTime(now),
  updated_at: presentTime(now),
});
