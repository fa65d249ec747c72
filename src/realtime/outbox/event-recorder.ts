/** The events of a room: written down in the very transaction of what happens, for whoever listens. */
import { type Happening, presentEvent } from "../../delivery/events.ts";
import { presentRoom, type RoomFigures } from "../../rooms/schema.ts";
import type { RoomRow } from "../../rooms/table.ts";
import { presentUser, type User, type UserRecord } from "../../users/schema.ts";
import type { OpenSession, RoomStorage } from "../storage/storage.ts";

/** Of the users that the end of a session tells of, in characters of JSON: more would burden every list of deliveries. */
export const MAX_USERS_CHARACTERS = 128 * 1024;

export class Announcements {
  readonly #storage: RoomStorage;
  readonly #newId: () => string;

  constructor(storage: RoomStorage, newId: () => string) {
    this.#storage = storage;
    this.#newId = newId;
  }

  /** A user has come online; `figures` count it. */
  joined(room: RoomRow, { id, joinedAt, user }: OpenSession, figures: RoomFigures): void {
    const { gathering } = this.#storage;
    gathering.writeRoom(room);
    const presented = presentRoom(room, joinedAt, figures);
    if (gathering.readId() === null) {
      const sessionId = this.#newId();
      gathering.begin(sessionId);
      const data = { roomId: room.id, sessionId };
      this.#record(joinedAt, { event: "session.started", data, room: presented });
    }
    gathering.put({ user, joinedAt });
    this.#record(joinedAt, {
      event: "participant.joined",
      data: { roomId: room.id, userId: user.id, sessionId: id },
      room: presented,
      user: presentUser(user, { online: true, joinedAt }),
    });
  }

  /** Users have gone offline at `at` (epoch ms); `figures` do not count them. */
  left(sessions: readonly OpenSession[], at: number, figures: RoomFigures): void {
    const { gathering } = this.#storage;
    const row = gathering.readRoom();
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
    const sessionId = gathering.readId();
    if (figures.activeParticipants > 0 || sessionId === null) return;
    const data = { roomId: row.id, sessionId };
    this.#record(at, { event: "session.closed", data, room, users: this.#listUsers() });
    gathering.end();
  }

  #listUsers(): User[] {
    const users = this.#storage.gathering
      .list()
      .map(({ user, joinedAt }) => presentUser(user, { online: false, joinedAt }));
    let characters = 0;
    const end = users.findIndex((user) => {
      characters += JSON.stringify(user).length;
      return characters > MAX_USERS_CHARACTERS;
    });
    return end === -1 ? users : users.slice(0, end);
  }

  #record(occurredAt: number, happening: Happening): void {
    const id = this.#newId();
    const body = presentEvent(id, occurredAt, happening);
    this.#storage.events.append({ id, event: happening.event, occurredAt, body });
  }

  /** Notes the room's row as the database has it now, for later events; without one before, there are none yet. */
  know(row: RoomRow): void {
    const { gathering } = this.#storage;
    const known = gathering.readRoom();
    if (known !== null && JSON.stringify(known) !== JSON.stringify(row)) gathering.writeRoom(row);
  }

  /** Notes a user's new fields, if the user takes part in the room's session. */
  update(user: UserRecord): void {
    this.#storage.gathering.update(user);
  }
}
