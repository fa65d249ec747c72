/** Records the room's events in its outbox, in the transaction of what they report. */
import { type EventDraft, presentEvent } from "../../../wire/events.ts";
import { presentRoom, type RoomFields } from "../../../wire/room.ts";
import type { RoomStats } from "../../../wire/snapshots.ts";
import { presentUser, type User, type UserRecord } from "../../../wire/user.ts";
import type { OpenSession, RoomStorage } from "../../storage/storage.ts";

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
