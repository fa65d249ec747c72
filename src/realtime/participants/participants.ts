/** Who is in the room: connections, sessions and presence together, and how users go offline. */
import { ERROR_CODES, type ErrorCode } from "../../platform/error-codes.ts";
import { presentUser } from "../../users/present.ts";
import type { User } from "../../users/schema.ts";
import { Presence } from "../presence/presence.ts";
import { CLOSE, type CloseCode } from "../protocol/protocol.ts";
import type { OpenSession, RoomStorage } from "../storage/storage.ts";
import type { Joined } from "../transport/connection.ts";
import { Connections, send } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";
import { Sessions } from "./sessions.ts";

export const presentOnline = ({ user, joinedAt }: OpenSession): User =>
  presentUser(user, { online: true, joinedAt });

const userEvent = (event: "userJoined" | "userLeft", user: User) =>
  ({ type: "event", event, data: { userId: user.id, user } }) as const;

/** The error for which sockets are closed. */
export interface CloseReason {
  readonly code: ErrorCode;
  readonly message: string;
  /** True when the token is the cause: the client receives `authFailed` first. */
  readonly authFailed: boolean;
}

interface ParticipantPorts {
  readonly storage: RoomStorage;
  now(): number;
  newId(): string;
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
}

export class Participants {
  readonly connections = new Connections();
  readonly sessions: Sessions;
  readonly presence: Presence;
  readonly #ports: ParticipantPorts;

  constructor(ports: ParticipantPorts) {
    const { storage } = ports;
    this.sessions = new Sessions(storage, () => ports.newId());
    this.presence = new Presence(this.connections, (userId) => storage.follows.listFollowed(userId));
    this.#ports = ports;
  }

  /** A session has started: all other users receive `userJoined`. */
  notifyJoined(user: User): Effect[] {
    return this.connections.sendToAll([userEvent("userJoined", user)], user.id);
  }

  #notifyLeft(ended: readonly OpenSession[]): Effect[] {
    if (ended.length === 0) return [];
    const events = ended.map(({ user, joinedAt }) =>
      userEvent("userLeft", presentUser(user, { online: false, joinedAt })),
    );
    return this.connections.sendToAll(events);
  }

  /** Removes sockets that are gone. A user's session ends with the last of its sockets. Never throws. */
  remove(ids: Iterable<string>): Effect[] {
    const removed: Joined[] = [];
    for (const id of ids) {
      const connection = this.connections.remove(id);
      if (connection?.phase === "joined") removed.push(connection);
      else if (connection) this.connections.addresses.countUnjoined(connection.address, this.#ports.now());
    }
    const left = new Set(
      removed.map(({ userId }) => userId).filter((userId) => !this.connections.hasUser(userId)),
    );
    return [
      ...this.#endSessions(left),
      ...removed.flatMap((connection) => this.presence.release(connection)),
    ];
  }

  /** What concerns sockets does not depend on storage: sessions that cannot be ended now are ended by {@link recover}. */
  #endSessions(userIds: ReadonlySet<string>): Effect[] {
    try {
      return this.#notifyLeft(this.sessions.end(userIds, this.#ports.now()));
    } catch (error) {
      this.#ports.report("The sessions of closed sockets could not be ended yet", error);
      return [{ type: "recoverSoon" }];
    }
  }

  /** Closes sockets. They count as gone at once: nothing more is sent to them. */
  disconnect(ids: readonly string[], code: CloseCode, reason: string): Effect[] {
    return [...ids.map((id): Effect => ({ type: "close", id, code, reason })), ...this.remove(ids)];
  }

  /** Closes sockets because of an error. */
  disconnectFor(ids: readonly string[], { code, message, authFailed }: CloseReason): Effect[] {
    const closed = this.disconnect(ids, ERROR_CODES[code].close, message);
    if (!authFailed || ids.length === 0) return closed;
    return [send(ids, { type: "event", event: "authFailed", data: { code, message } }), ...closed];
  }

  disconnectAll(code: CloseCode, reason: string): Effect[] {
    return this.disconnect(this.connections.ids(), code, reason);
  }

  /** Makes sessions and stats match the sockets that are really open. */
  recover(): Effect[] {
    const online = this.connections.users();
    const left = this.#notifyLeft(this.sessions.recover(online));
    const orphans = [...online]
      .filter((userId) => this.sessions.get(userId) === undefined)
      .flatMap((userId) => this.connections.idsOf(userId));
    return [...left, ...this.disconnect(orphans, CLOSE.failed, "session lost")];
  }
}
