/** The events of a room: written down in the very transaction of what happens, for whoever listens. */
import { type EventDraft, presentEvent } from "../../delivery/events.ts";
import { presentRoom, type RoomStats } from "../../rooms/schema.ts";
import type { RoomRow } from "../../rooms/table.ts";
import { presentUser, type User, type UserRecord } from "../../users/schema.ts";
import type { OpenSession, RoomStorage } from "../storage/storage.ts";

/** Of the users that the end of a session tells of, in characters of JSON: more would burden every list of deliveries. */
export const MAX_USERS_CHARACTERS = 128 * 1024;

export class EventRecorder {
  readonly #storage: RoomStorage;
  readonly #newId: () => string;

  constructor(storage: RoomStorage, newId: () => string) {
    this.#storage = storage;
    this.#newId = newId;
  }

  /** A user has come online; `figures` count it. */
  recordJoined(room: RoomRow, { id, joinedAt, user }: OpenSession, figures: RoomStats): void {
    const { occupancy } = this.#storage;
    occupancy.writeRoom(room);
    const presented = presentRoom(room, joinedAt, figures);
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

  /** Users have gone offline at `at` (epoch ms); `figures` do not count them. */
  recordLeft(sessions: readonly OpenSession[], at: number, figures: RoomStats): void {
    const { occupancy } = this.#storage;
    const row = occupancy.readRoom();
    if (row === null) return;
    const room = presentRoom(row, at, figures);
    for (const { id, joinedAt, user } of sessions) {
      this.#record(at, {
        event: "participant.left",
        data: { roomId: row.id, userId: user.id, sessionId: id },
        room,
        user: presentUser(user, { online: false, joinedAt }),
      });
    }
    const sessionId = occupancy.readId();
    if (figures.activeParticipants > 0 || sessionId === null) return;
    const data = { roomId: row.id, sessionId };
    this.#record(at, { event: "session.closed", data, room, users: this.#listUsers() });
    occupancy.end();
  }

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

  #record(occurredAt: number, happening: EventDraft): void {
    const id = this.#newId();
    const body = presentEvent(id, occurredAt, happening);
    this.#storage.events.append({ id, event: happening.event, occurredAt, body });
  }

  /** Notes the room's row as the database has it now, for later events; without one before, there are none yet. */
  updateRoom(row: RoomRow): void {
    const { occupancy } = this.#storage;
    const known = occupancy.readRoom();
    if (known !== null && JSON.stringify(known) !== JSON.stringify(row)) occupancy.writeRoom(row);
  }

  /** Notes a user's new fields, if the user takes part in the room's session. */
  updateUser(user: UserRecord): void {
    this.#storage.occupancy.update(user);
  }
}
