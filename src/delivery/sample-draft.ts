/** Events as they would be about a room and users that are given: to test a webhook, and to run a workflow by hand. */
import { presentTime } from "../platform/time.ts";
import type { Comment } from "../realtime/protocol/comment.ts";
import type { Room } from "../rooms/schema.ts";
import type { User } from "../users/schema.ts";
import type { EventDraft } from "./events.ts";
import type { EventName } from "./port/event-name.ts";

interface Sample {
  readonly room: Room;
  /** An event about a user is about the first. */
  readonly users: User[];
  /** Epoch milliseconds. */
  readonly now: number;
  newId(): string;
}

/** Sessions and comments are made up. Throws for an event about a user when there is none. */
export function sampleDraft(event: EventName, { room, users, now, newId }: Sample): EventDraft {
  const [user] = users;
  const roomId = room.id;
  if (event === "session.closed") return { event, data: { roomId, sessionId: newId() }, room, users };
  if (event === "session.started") return { event, data: { roomId, sessionId: newId() }, room };
  if (user === undefined) throw new Error("An event about a user needs a user");
  const userId = user.id;
  switch (event) {
    case "participant.joined":
    case "participant.left":
      return { event, data: { roomId, userId, sessionId: newId() }, room, user };
    case "user.created":
    case "user.updated":
    case "user.deleted":
      return { event, data: { roomId, userId }, room, user };
    default: {
      const comment = sampleComment(newId(), user, now, event === "comment.resolved");
      return { event, data: { roomId, commentId: comment.id, threadId: comment.id, userId }, room, comment };
    }
  }
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
  created_at: presentTime(now),
  updated_at: presentTime(now),
});
