/** Participants: connections, sessions and presence together, and the ways in which users go offline. */

import { ERROR_CODES, type ErrorCode } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { presentUser, type User } from "@atrium/contract/resources/user.ts";
import { CONNECTION_COSTS } from "../../protocol/costs.ts";
import { CLOSE, type CloseCode } from "../../protocol/protocol.ts";
import type { OpenSession } from "../../storage/storage.ts";
import type { Effect, Joined, Waiting } from "../../transport/connection.ts";
import {
  findOverdue,
  LAST_SEEN_GRANULARITY_MS,
  type Overdue,
  planAlarm,
  RoomConnections,
  send,
} from "../../transport/connections.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import { RoomPresence } from "../presence/presence.ts";
import { Sessions } from "./sessions.ts";

const closeAll = (ids: readonly string[], code: CloseCode, reason: string): Effect[] =>
  ids.map((id) => ({ type: "close", id, code, reason }));

/** Grace periods end together, so that a thousand broken sockets need few alarms. */
const GRACE_GRANULARITY_MS = 1_000;

const NOT_KEPT_ONLINE = "The users of broken sockets could not be kept online";

const userEvent = (event: "userJoined" | "userLeft", user: User) =>
  ({ type: "event", event, data: { userId: user.id, user } }) as const;

export interface CloseReason {
  readonly code: ErrorCode;
  readonly message: string;
  /** True when the token is the cause: the client receives `authFailed` first. */
  readonly authFailed: boolean;
}

const TOKEN_EXPIRED: CloseReason = {
  code: "UNAUTHORIZED",
  message: "The token has expired",
  authFailed: true,
};

export class Participants {
  readonly connections = new RoomConnections();
  readonly sessions: Sessions;
  readonly presence: RoomPresence;
  readonly #ports: RoomPorts;
  /** Time until which the room reads no joins (epoch ms). */
  joinsHeldUntil = Number.NEGATIVE_INFINITY;
  /** Cleans up other parts when a socket is gone. */
  onRemoved: (id: string) => Effect[] = () => [];

  constructor(ports: RoomPorts) {
    this.sessions = new Sessions(ports);
    this.presence = new RoomPresence(this.connections, {
      followedBy: (userId) => ports.storage.follows.listFollowed(userId),
      canTakeMore: (id) => ports.canTakeMore(id),
      now: () => ports.now(),
    });
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

  /**
   * Removes sockets that are gone. A user's session ends with the last of its sockets, at once if that was closed for
   * good, and after the grace period if its client may come back. Never throws.
   */
  remove(ids: Iterable<string>, isForGood = true): Effect[] {
    const removed: Joined[] = [];
    const elsewhere: Effect[] = [];
    const now = this.#ports.now();
    for (const id of ids) {
      const connection = this.connections.remove(id);
      elsewhere.push(...this.onRemoved(id));
      if (connection?.phase === "joined") removed.push(connection);
      else if (connection)
        this.connections.addresses.of(connection.address, now).spend(CONNECTION_COSTS.unjoined, now);
    }
    const left = new Set(
      removed.flatMap(({ userId, watches }) => (watches || this.connections.hasUser(userId) ? [] : [userId])),
    );
    const graced = isForGood ? [] : this.#beginGracePeriods(left);
    return [
      ...graced,
      ...this.#endSessions(
        [...left].filter((userId) => !this.sessions.gracePeriods.has(userId)),
        this.#ports.now(),
      ),
      ...removed.flatMap((connection) =>
        this.presence.release(connection, this.sessions.gracePeriods.has(connection.userId)),
      ),
      ...elsewhere,
    ];
  }

  get #gracePeriodEnd(): number {
    const end = this.#ports.now() + this.#ports.graceMs;
    return Math.ceil(end / GRACE_GRANULARITY_MS) * GRACE_GRANULARITY_MS;
  }

  /** Sockets do not depend on storage: a failure is reported, and has other effects. */
  #attempt(failure: string, work: () => Effect[], otherwise: Effect[] = []): Effect[] {
    try {
      return work();
    } catch (error) {
      this.#ports.report(failure, error);
      return otherwise;
    }
  }

  /** If the storage fails, their sessions end at once. */
  #beginGracePeriods(userIds: ReadonlySet<string>): Effect[] {
    if (this.#ports.graceMs === 0 || userIds.size === 0) return [];
    const endsAt = this.#gracePeriodEnd;
    return this.#attempt(NOT_KEPT_ONLINE, () => {
      const online = [...userIds].filter((userId) => this.sessions.get(userId) !== undefined);
      this.sessions.gracePeriods.begin(online.map((userId) => ({ userId, endsAt, leftAt: endsAt })));
      return [{ type: "planAlarm" }];
    });
  }

  /** Ends the grace periods of users (default: all): users without a socket go offline. */
  endGracePeriods(userIds: Iterable<string> = this.sessions.gracePeriods.users()): Effect[] {
    const without = [...userIds].filter(
      (userId) => this.sessions.get(userId) !== undefined && !this.connections.hasUser(userId),
    );
    return this.sessions.gracePeriods.byLeaving(without, this.#ports.now()).flatMap(([leftAt, users]) => [
      ...this.#endSessions(users, leftAt),
      ...users.flatMap((userId) => {
        this.sessions.gracePeriods.forget(userId); // even if its end could not be stored yet: `recover` tries again
        return this.presence.forget(userId);
      }),
    ]);
  }

  /** {@link recover} ends the sessions that cannot be ended now. */
  #endSessions(userIds: Iterable<string>, leftAt: number): Effect[] {
    const end = () => this.#notifyLeft(this.sessions.end(userIds, leftAt));
    return this.#attempt("The sessions of closed sockets could not be ended yet", end, [
      { type: "recoverSoon" },
    ]);
  }

  /** Closes sockets for good. They count as gone at once: nothing more is sent to them. */
  disconnect(ids: readonly string[], code: CloseCode, reason: string): Effect[] {
    return [...closeAll(ids, code, reason), ...this.remove(ids)];
  }

  /** Closes sockets whose clients are to come back: until then their users stay online. */
  interrupt(ids: readonly string[], code: CloseCode, reason: string): Effect[] {
    return [...closeAll(ids, code, reason), ...this.remove(ids, false)];
  }

  disconnectFor(ids: readonly string[], { code, message, authFailed }: CloseReason): Effect[] {
    const closed = this.disconnect(ids, ERROR_CODES[code].close, message);
    if (!authFailed || ids.length === 0) return closed;
    return [send(ids, { type: "event", event: "authFailed", data: { code, message } }), ...closed];
  }

  disconnectAll(code: CloseCode, reason: string): Effect[] {
    return [...this.disconnect(this.connections.ids(), code, reason), ...this.endGracePeriods()];
  }

  /** The room has started: users whose sockets were lost have the grace period to come back. */
  restart(): Effect[] {
    const lost = this.#ports.graceMs === 0 ? [] : this.#waitForLost();
    const states = this.sessions.gracePeriods.users().flatMap((userId) => this.presence.forget(userId));
    const shown = this.sessions.gracePeriods.shown().flatMap((kept) => this.presence.showAgain(kept));
    return [...lost, ...this.recover(), ...states, ...shown];
  }

  #waitForLost(): Effect[] {
    return this.#attempt(NOT_KEPT_ONLINE, () => {
      const hasLost = this.sessions.waitForLost(this.connections.users(), this.#gracePeriodEnd);
      return hasLost ? [{ type: "planAlarm" }, { type: "holdJoins" }] : [];
    });
  }

  /** Makes sessions and stats match the sockets that are really open, and the grace periods. */
  recover(): Effect[] {
    const online = this.connections.users();
    const left = this.#notifyLeft(this.sessions.recover(online));
    const orphans = [...online]
      .filter((userId) => this.sessions.get(userId) === undefined)
      .flatMap((userId) => this.connections.idsOf(userId));
    return [...left, ...this.disconnect(orphans, CLOSE.failed, "session lost")];
  }

  /** A socket that survived hibernation. It may have been seen until shortly before its attachment was due again. */
  restore(connection: Waiting | Joined): Waiting | Joined {
    if (connection.phase === "waiting") return connection;
    const lastSeenAt = connection.savedLastSeenAt + LAST_SEEN_GRANULARITY_MS;
    return this.#withPings({ ...connection, lastSeenAt });
  }

  #withPings(connection: Joined): Joined {
    const pingedAt = this.#ports.lastPingAt(connection.id) ?? 0;
    return pingedAt > connection.lastSeenAt ? { ...connection, lastSeenAt: pingedAt } : connection;
  }

  /** Closes the sockets that have missed a deadline, and records that the room is running. */
  sweep(): Effect[] {
    const { joinTimeout, silent, tokenExpired } = this.#findOverdue();
    const silence = `silent for ${LIMITS.silenceMs / 1000} s`;
    const effects = [
      ...this.disconnect(joinTimeout, CLOSE.joinTimeout, "no JOIN_ROOM in time"),
      ...this.interrupt(silent, CLOSE.silent, silence),
      ...this.disconnectFor(tokenExpired, TOKEN_EXPIRED),
      ...this.endGracePeriods(this.sessions.gracePeriods.due(this.#ports.now())),
    ];
    this.#recordAlive();
    return effects;
  }

  /** A joined socket has sent something. In a room that was quiet for long, that is a time at which it ran, too. */
  seen(connection: Joined): Effect[] {
    const effects = this.connections.recordSeen(connection, this.#ports.now());
    if (effects.some(({ type }) => type === "planAlarm")) this.#recordAlive();
    return effects;
  }

  /** If this fails, a crash ends the sessions too early; other effects matter more. */
  #recordAlive(): void {
    if (this.connections.joinedCount === 0) return;
    this.#attempt("A room could not record that it is running", () => {
      this.sessions.recordAlive(this.#ports.now());
      return [];
    });
  }

  #findOverdue(): Record<Overdue, string[]> {
    const overdue: Record<Overdue, string[]> = { joinTimeout: [], silent: [], tokenExpired: [] };
    const { connections } = this;
    for (const connection of connections.all()) {
      const current = connection.phase === "joined" ? this.#withPings(connection) : connection;
      if (current.phase === "joined") connections.update(current);
      const reason = findOverdue(current, this.#ports.now(), this.joinsHeldUntil);
      if (reason !== null) overdue[reason].push(current.id);
    }
    return overdue;
  }

  /** When to call {@link sweep} next (epoch ms); null when no one is online, and no socket waits. */
  sweepAt(): number | null {
    const { connections, sessions } = this;
    const socketAt = planAlarm(this.#ports.now(), connections.all(), this.joinsHeldUntil);
    const graceAt = sessions.gracePeriods.nextEnd;
    return socketAt === null || graceAt === null ? (socketAt ?? graceAt) : Math.min(socketAt, graceAt);
  }
}
