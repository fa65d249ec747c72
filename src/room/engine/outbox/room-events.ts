/** Records the room's events in its outbox, in the transaction of the change that they report. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import type {
  AgentMentionedEvent,
  CommentEvent,
  EventDraft,
  ThreadEvent,
} from "@atrium/contract/resources/events.ts";
import { type EventCause, presentEvent } from "@atrium/contract/resources/present-event.ts";
import { presentRoom, type Room, type RoomFields } from "@atrium/contract/resources/room.ts";
import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { CommentAuthor, MentionedAgent, Thread } from "@atrium/contract/resources/thread.ts";
import { presentUser, type User } from "@atrium/contract/resources/user.ts";
import type { OpenSession, RoomRecord } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";

export type RecorderPorts = Pick<RoomPorts, "storage" | "newId">;

/** Ports that record events of the room's content. */
export interface EventPorts extends Pick<RoomPorts, "storage" | "now" | "newId" | "planAlarm"> {
  /** The run that the change follows from; null when no workflow has made it. */
  cause(): EventCause | null;
  /** The room's stats, which its events show. */
  stats(): RoomStats;
}

/** The size of `users` in `session.closed`, in characters of JSON: more would slow down every list of deliveries. */
const MAX_USERS_CHARACTERS = 128 * 1024;

/** Records an event of a time (epoch ms). */
export function recordEvent(
  { storage, newId }: RecorderPorts,
  occurredAt: number,
  draft: EventDraft,
  cause: EventCause | null = null,
): void {
  const id = newId();
  const body = presentEvent(id, occurredAt, draft, cause);
  storage.events.append({ id, event: draft.event, occurredAt, body });
}

/** A user has come online; the record includes them, and is written. */
export function recordJoined(
  ports: RecorderPorts,
  room: RoomFields,
  { id, joinedAt, user }: OpenSession,
  record: RoomRecord & { readonly sessionId: string },
  isFirst: boolean,
): void {
  const { occupancy } = ports.storage;
  occupancy.writeRoom(room);
  const presented = presentRoom(room, joinedAt, record);
  if (isFirst) occupancy.end();
  occupancy.put({ user, joinedAt }, record.version);
  const started: EventDraft = {
    event: "session.started",
    data: { roomId: room.id, sessionId: record.sessionId },
    room: presented,
  };
  const joined: EventDraft = {
    event: "participant.joined",
    data: { roomId: room.id, userId: user.id, sessionId: id },
    room: presented,
    user: presentUser(user, { online: true, joinedAt }),
  };
  for (const draft of isFirst ? [started, joined] : [joined]) recordEvent(ports, joinedAt, draft);
}

/** Users have gone offline at `at` (epoch ms) in an occupancy period; `stats` do not include them. */
export function recordLeft(
  ports: RecorderPorts,
  sessions: readonly OpenSession[],
  at: number,
  stats: RoomStats,
  sessionId: string | null,
): void {
  const { occupancy } = ports.storage;
  const row = occupancy.readRoom();
  if (row === null) return;
  const room = presentRoom(row, at, stats);
  const left = sessions.map(
    ({ id, joinedAt, user }): EventDraft => ({
      event: "participant.left",
      data: { roomId: row.id, userId: user.id, sessionId: id },
      room,
      user: presentUser(user, { online: false, joinedAt }),
    }),
  );
  for (const draft of left) recordEvent(ports, at, draft);
  if (stats.activeParticipants > 0 || sessionId === null) return;
  const users = occupancy.list().map(({ user, joinedAt }) => presentUser(user, { online: false, joinedAt }));
  const data = { roomId: row.id, sessionId };
  recordEvent(ports, at, { event: "session.closed", data, room, users: firstThatFit(users) });
  occupancy.end();
}

function firstThatFit(users: readonly User[]): User[] {
  let characters = 0;
  const end = users.findIndex((user) => {
    characters += JSON.stringify(user).length;
    return characters > MAX_USERS_CHARACTERS;
  });
  return users.slice(0, end === -1 ? users.length : end);
}

/** `by` is the user who changed the comment; null for the organization. */
export function recordComment(
  ports: EventPorts,
  event: CommentEvent["event"],
  comment: Comment,
  by: string | null,
): void {
  const { id: commentId, thread_id: threadId } = comment;
  recordContent(ports, by, (room, userId) => {
    const data = { roomId: room.id, commentId, threadId, ...userId };
    return { event, data, room, comment };
  });
}

/** The same for a thread. */
export function recordThread(
  ports: EventPorts,
  event: ThreadEvent["event"],
  thread: Thread,
  by: string | null,
): void {
  recordContent(ports, by, (room, userId) => {
    const data = { roomId: room.id, threadId: thread.id, ...userId };
    return { event, data, room, thread };
  });
}

interface AgentMention extends Pick<AgentMentionedEvent, "comment" | "thread"> {
  readonly agent: MentionedAgent;
  readonly author: CommentAuthor;
  readonly depth: number;
}

/** A comment mentions an agent. */
export function recordAgentMention(
  ports: EventPorts,
  { comment, thread, agent: { identityId }, author, depth }: AgentMention,
): void {
  const { id: commentId, thread_id: threadId, user_id: userId } = comment;
  recordContent(ports, null, (room) => {
    const data = { roomId: room.id, threadId, commentId, identityId, userId, by: author, depth };
    return { event: "agent.mentioned", data, room, comment, thread };
  });
}

type SuggestionChange =
  | { readonly event: "suggestion.created"; readonly suggestion: Suggestion }
  | {
      readonly event: "suggestion.reviewed";
      readonly suggestion: Suggestion;
      readonly accepted: number;
      readonly rejected: number;
    };

/** A suggestion was made or reviewed. */
export function recordSuggestion(ports: EventPorts, change: SuggestionChange): void {
  const { suggestion } = change;
  recordContent(ports, null, (room) => {
    const data = { roomId: room.id, document: suggestion.document, suggestionId: suggestion.id };
    if (change.event === "suggestion.created") return { event: change.event, data, room, suggestion };
    const { event, accepted, rejected } = change;
    return { event, data: { ...data, accepted, rejected }, room, suggestion };
  });
}

function recordContent(
  ports: EventPorts,
  by: string | null,
  draftOf: (room: Room, userId: { readonly userId?: string }) => EventDraft,
): void {
  const row = ports.storage.occupancy.readRoom();
  if (row === null) return; // only REST has used the room, and its row was not stored with its comments yet
  const now = ports.now();
  const room = presentRoom(row, now, ports.stats());
  recordEvent(ports, now, draftOf(room, by === null ? {} : { userId: by }), ports.cause());
}
