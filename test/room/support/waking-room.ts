/** A room's comments whose mentions wake agents, without the rest of the room, at a time that the test moves. */

import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { CommentAuthor, MentionedAgent } from "@atrium/contract/resources/thread.ts";
import { Changes } from "../../../src/room/engine/content/changes.ts";
import { RoomComments } from "../../../src/room/engine/content/comments.ts";
import { RoomThreads } from "../../../src/room/engine/content/threads.ts";
import { RoomWakes } from "../../../src/room/engine/content/wakes.ts";
import type { SqliteStorage } from "../../../src/room/storage/storage.ts";
import { eventPorts, roomPorts } from "./room-ports.ts";
import { ROOM } from "./rows.ts";

export const agent = (identityId: string, mention = identityId): MentionedAgent => ({
  identityId,
  mention,
});

export const bot = (identityId: string): CommentAuthor => ({ identityId, kind: "agent" });

const NO_ONE = { readers: [], groups: [], unnotified: [] };

/** Rooms of the same clock (ms) have the same time. */
export function openWakingRoom(storage: SqliteStorage, clock = { ms: 0 }) {
  const now = () => clock.ms;
  const ports = roomPorts({ storage, now });
  storage.occupancy.writeRoom(ROOM);
  const changes = new Changes(ports);
  let cause: EventCause | null = null;
  const events = eventPorts({ storage, now, cause: () => cause });
  const comments = new RoomComments(ports, changes, new RoomThreads(ports, changes), events);
  const wakes = new RoomWakes(events);
  const wake = (
    comment: ReturnType<typeof comments.create>,
    author: CommentAuthor,
    names: readonly string[],
  ) => {
    const agents = names.map((id) => agent(id));
    return { comment, unnotified: wakes.wake(comment, { ...NO_ONE, agents, author }) };
  };
  return {
    comments,
    /** Writes a comment that mentions these agents. */
    write: (author: CommentAuthor, mentioned: readonly string[], threadId?: string) => {
      const subject = author.identityId ?? "user";
      const reader = { subject, userId: `user of ${subject}` };
      const input = { text: `By ${subject}`, mentions: [], threadId };
      return storage.transaction(() => wake(comments.create(input, reader, NO_ONE), author, mentioned));
    },
    /** Edits a comment, so that it mentions these agents. */
    edit: (id: string, author: CommentAuthor, mentioned: readonly string[]) =>
      storage.transaction(() => wake(comments.edit(id, { mentions: [] }, null, NO_ONE), author, mentioned)),
    /** Carries out work of a workflow's run. */
    inRun: <T>(depth: number, work: () => T): T => {
      cause = { workflowId: "workflow", depth };
      try {
        return work();
      } finally {
        cause = null;
      }
    },
    /** The mentions since the last call. */
    takeEvents: () =>
      storage.events.list(1_000).flatMap(({ seq, event, body }) => {
        storage.events.delete(seq);
        return event === "agent.mentioned" ? [JSON.parse(body) as AgentMentionedEvent] : [];
      }),
    advance: (ms: number) => {
      clock.ms += ms;
    },
  };
}
