/** What the events of the room's content need. */

import type { Comment } from "../../../wire/comment.ts";
import { type CommentEvent, type EventCause, type EventDraft, presentEvent } from "../../../wire/events.ts";
import { presentRoom, type RoomFields } from "../../../wire/room.ts";
import type { RoomStats } from "../../../wire/snapshots.ts";
import { presentUser, type User, type UserRecord } from "../../../wire/user.ts";
import type { OpenSession, RoomStorage } from "../../storage/storage.ts";

export interface EventPorts {
  readonly storage: RoomStorage;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  /** The run that the change follows from; null when no workflow has made it. */
  cause(): EventCause | null;
  /** The room's stats, which its events show. */
  stats(): RoomStats;
}

/** Requests are carried out one by one, each without a pause: at any time there is one cause at most. */
export class CurrentCause {
  #current: EventCause | null = null;

  /** Null while what happens is no workflow's doing. */
  get(): EventCause | null {
    return this.#current;
  }

  during<T>(cause: EventCause | null, work: () => T): T {
    this.#current = cause;
    try {
      return work();
    } finally {
      this.#current = null;
    }
  }
}

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

/** The size of `users` in `session.closed`, in characters of JSON: more would slow down every list of deliveries. */
export const MAX_USERS_CHARACTERS = 128 * 1024;

export class EventRecorder {
  readonly #storage: RoomStorage;
  readonly #newId: () => string;

  constructor(storage: RoomStorage, newId: () => string) {
    this.#storage = storage;
    this.#newId = newId;
  }

  /** A user has come online; `stats` include them. */
  recordJoined(room: RoomFields, { id, joinedAt, user }: OpenSession, stats: RoomStats): void {
    const { occupancy } = this.#storage;
    occupancy.writeRoom(room);
    const presented = presentRoom(room, joinedAt, stats);
    if (occupancy.readId() === null) {
      const sessionId = this.#newId();
      occupancy.begin(sessionId);
      const data = { roomId: room.id, sessionId };
      this.#record(joinedAt, { event: "session.started", data, room: presented });
    }
    occupancy.put({ user, joinedAt });
    this.#record(joinedAt, {
      event: "participant.joined",
      data: { roomId: room.id, userId: user.id, sessionId: id },
      room: presented,
      user: presentUser(user, { online: true, joinedAt }),
    });
  }

  /** Users have gone offline at `at` (epoch ms); `stats` do not include them. */
  recordLeft(sessions: readonly OpenSession[], at: number, stats: RoomStats): void {
    const { occupancy } = this.#storage;
    const row = occupancy.readRoom();
    if (row === null) return;
    const room = presentRoom(row, at, stats);
    for (const { id, joinedAt, user } of sessions) {
      this.#record(at, {
        event: "participant.left",
        data: { roomId: row.id, userId: user.id, sessionId: id },
        room,
        user: presentUser(user, { online: false, joinedAt }),
      });
    }
    const sessionId = occupancy.readId();
    if (stats.activeParticipants > 0 || sessionId === null) return;
    const data = { roomId: row.id, sessionId };
    this.#record(at, { event: "session.closed", data, room, users: this.#listUsers() });
    occupancy.end();
  }

  /** The users of the occupancy period, as many as fit. */
  #listUsers(): User[] {
    const users = this.#storage.occupancy
      .list()
      .map(({ user, joinedAt }) => presentUser(user, { online: false, joinedAt }));
    let characters = 0;
    const end = users.findIndex((user) => {
      characters += JSON.stringify(user).length;
      return characters > MAX_USERS_CHARACTERS;
    });
    return end === -1 ? users : users.slice(0, end);
  }

  #record(occurredAt: number, draft: EventDraft): void {
    const id = this.#newId();
    const body = presentEvent(id, occurredAt, draft);
    this.#storage.events.append({ id, event: draft.event, occurredAt, body });
  }

  /** Stores the room's current row for later events; before the first join there are none. */
  updateRoom(row: RoomFields): void {
    const { occupancy } = this.#storage;
    const stored = occupancy.readRoom();
    if (stored !== null && JSON.stringify(stored) !== JSON.stringify(row)) occupancy.writeRoom(row);
  }

  /** Stores a user's new fields, if the user took part in the current occupancy period. */
  updateUser(user: UserRecord): void {
    this.#storage.occupancy.update(user);
  }
}
