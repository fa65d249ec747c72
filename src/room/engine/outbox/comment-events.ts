/** Records the events of comments in the room's outbox, in the transaction of what they report. */

import type { Comment } from "../../../wire/comment.ts";
import type { CommentEvent } from "../../../wire/content-events.ts";
import { presentEvent } from "../../../wire/events.ts";
import { presentRoom } from "../../../wire/room.ts";
import type { EventPorts } from "./event-ports.ts";

export class CommentEvents {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  /** `by` is the user who changed the comment; null for the organization. */
  record(event: CommentEvent["event"], comment: Comment, by: string | null): void {
    const { storage } = this.#ports;
    const row = storage.occupancy.readRoom();
    if (row === null) return; // of a room that only REST has used, before its row was stored with its comments
    const [id, now] = [this.#ports.newId(), this.#ports.now()];
    const data = {
      roomId: row.id,
      commentId: comment.id,
      threadId: comment.thread_id,
      ...(by === null ? {} : { userId: by }),
    };
    const room = presentRoom(row, now, this.#ports.stats());
    const body = presentEvent(id, now, { event, data, room, comment }, this.#ports.cause());
    storage.events.append({ id, event, occurredAt: now, body });
  }
}
