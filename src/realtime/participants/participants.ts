/** Who is in the room: sockets and sessions together, how they go, and what the others hear of it. */
import { ERROR_CODES } from "../../platform/error-codes.ts";
import { presentUser, type User } from "../../users/schema.ts";
import { Presence } from "../presence/presence.ts";
import { CLOSE, type CloseCode, type ServerMessage } from "../protocol/protocol.ts";
import type { OpenSession, RoomStorage } from "../storage/storage.ts";
import { Connections, type Joined } from "../transport/connections.ts";
import type { Effect, JoinRefusal } from "../transport/effects.ts";
import { Sessions } from "./sessions.ts";

export const send = (to: readonly string[], message: ServerMessage): Effect => ({
  type: "send",
  to,
  message,
});

export const presentOnline = ({ user, joinedAt }: OpenSession): User =>
  presentUser(user, { online: true, joinedAt });

export interface ParticipantPorts {
  now(): number;
  newId(): string;
}

export class Participants {
  readonly connections = new Connections();
  readonly sessions: Sessions;
  readonly presence: Presence;
  readonly #now: () => number;

  constructor(storage: RoomStorage, { now, newId }: ParticipantPorts) {
    this.sessions = new Sessions(storage, newId);
    this.presence = new Presence(this.connections, (userId) => storage.follows.listFollowed(userId));
    this.#now = now;
  }

  /** Tells all joined sockets, but for those of one user. */
  notify(event: "userJoined" | "userLeft", user: User, exceptUserId?: string): Effect[] {
    const to = this.connections.joinedIds(exceptUserId);
    return to.length === 0 ? [] : [send(to, { type: "event", event, data: { userId: user.id, user } })];
  }

  #notifyLeft(ended: readonly OpenSession[]): Effect[] {
    if (ended.length === 0) return [];
    return [
      { type: "drainOutbox" },
      ...ended.flatMap(({ user, joinedAt }) =>
        this.notify("userLeft", presentUser(user, { online: false, joinedAt })),
      ),
    ];
  }

  /** Forgets sockets that are gone. A user goes offline with the last of its own. */
  drop(ids: Iterable<string>): Effect[] {
    const gone: Joined[] = [];
    for (const id of ids) {
      const connection = this.connections.remove(id);
      if (connection?.phase === "joined") gone.push(connection);
    }
    const left = new Set(gone.map(({ userId }) => userId).filter((userId) => !this.connections.has(userId)));
    return [
      ...this.#notifyLeft(this.sessions.end(left, this.#now())),
      ...gone.flatMap((connection) => this.presence.release(connection)),
    ];
  }

  /** Closes sockets. They count as gone at once: nothing more is sent to them. */
  disconnect(ids: readonly string[], code: CloseCode, reason: string): Effect[] {
    return [...ids.map((id): Effect => ({ type: "close", id, code, reason })), ...this.drop(ids)];
  }

  /** Closes sockets for what a refusal says. */
  disconnectFor(ids: readonly string[], { code, message, authFailed }: JoinRefusal): Effect[] {
    const farewell = send(ids, { type: "event", event: "authFailed", data: { code, message } });
    const dismissed = this.disconnect(ids, ERROR_CODES[code].close, message);
    return authFailed && ids.length > 0 ? [farewell, ...dismissed] : dismissed;
  }

  disconnectAll(code: CloseCode, reason: string): Effect[] {
    return this.disconnect(
      [...this.connections.all()].map(({ id }) => id),
      code,
      reason,
    );
  }

  /** Brings sessions and figures in line with the sockets that are really there. */
  recover(): Effect[] {
    const left = this.#notifyLeft(this.sessions.recover(this.connections.users()));
    const strangers = [...this.connections.users()].filter(
      (userId) => this.sessions.get(userId) === undefined,
    );
    const orphans = strangers.flatMap((userId) => this.connections.tabsOf(userId));
    return [...left, ...this.disconnect(orphans, CLOSE.failed, "session lost")];
  }
}
