/** The room's sockets, indexed by id and by user, and the messages addressed to them. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { KeyedLimits, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import type { Reader } from "@atrium/contract/resources/thread.ts";
import { RATES } from "../protocol/costs.ts";
import type { Sendable } from "../protocol/frame.ts";
import { eventForGuest } from "../protocol/guest-view.ts";
import type { ServerEvent } from "../protocol/protocol.ts";
import type { Authorizing, Connection, Effect, Joined, Waiting } from "./connection.ts";

/** Whether an editor's own client has opened the socket: the room's protocol is not spoken there. */
export const isOfDocuments = ({ documents }: Connection): boolean =>
  documents !== undefined && documents.wire !== "room";

/** Age at which the attached sign of life is rewritten. After hibernation, a socket without pings is dropped this much late. */
export const LAST_SEEN_GRANULARITY_MS = 5_000;

export const send = (to: readonly string[], message: Sendable): Effect => ({
  type: "send",
  to,
  message,
});

export class RoomConnections {
  readonly #byId = new Map<string, Connection>();
  readonly #joinedByUser = new Map<string, Set<string>>();
  /** The joined sockets that only watch. */
  readonly #watching = new Set<string>();
  /** The ids of all joined sockets; null when they have changed. */
  #joinedIds: readonly string[] | null = null;
  #joinedCount = 0;
  /** The joined sockets of guests, who receive a part of some messages. */
  readonly #ofGuests = new Set<string>();
  /** Sockets that have not joined: they may be strangers'. */
  readonly waiting = new WaitingSockets();
  /** Sockets that do not join cost an address more than those that do. */
  readonly addresses = new KeyedLimits((now) => new TokenBucket(RATES.connectionsOfAddress, now));

  get(id: string): Connection | undefined {
    return this.#byId.get(id);
  }

  put(connection: Connection): void {
    this.remove(connection.id);
    this.#byId.set(connection.id, connection);
    if (connection.phase !== "joined") {
      const isVerified = connection.phase === "authorizing" && connection.isVerified;
      if (!isVerified) this.waiting.add(connection);
      return;
    }
    this.#joinedCount += 1;
    this.#joinedIds = null;
    if (connection.isGuest) this.#ofGuests.add(connection.id);
    if (connection.watches) {
      this.#watching.add(connection.id);
      return;
    }
    const ids = this.#joinedByUser.get(connection.userId);
    if (ids === undefined) this.#joinedByUser.set(connection.userId, new Set([connection.id]));
    else ids.add(connection.id);
  }

  /** Replaces a joined connection of the same user, without touching the index. */
  update(connection: Joined): void {
    this.#byId.set(connection.id, connection);
  }

  /** Keeps the sign of life in memory, and with the socket now and then. A room that slept for long wakes sooner again. */
  recordSeen(connection: Joined, now: number): Effect[] {
    connection.lastSeenAt = now;
    const quietMs = now - connection.savedLastSeenAt;
    if (quietMs < LAST_SEEN_GRANULARITY_MS) return [];
    const saved = { ...connection, savedLastSeenAt: now };
    this.update(saved);
    const attach: Effect = { type: "attach", connection: saved };
    return quietMs < LIMITS.silenceMs ? [attach] : [attach, { type: "planAlarm" }];
  }

  remove(id: string): Connection | undefined {
    const connection = this.#byId.get(id);
    if (connection === undefined) return undefined;
    this.#byId.delete(id);
    if (connection.phase === "joined") this.#unindex(connection);
    else this.waiting.remove(connection);
    return connection;
  }

  #unindex({ id, userId }: Joined): void {
    this.#joinedCount -= 1;
    this.#joinedIds = null;
    this.#ofGuests.delete(id);
    if (this.#watching.delete(id)) return;
    const ids = this.#joinedByUser.get(userId);
    ids?.delete(id);
    if (ids?.size === 0) this.#joinedByUser.delete(userId);
  }

  get joinedCount(): number {
    return this.#joinedCount;
  }

  all(): Iterable<Connection> {
    return this.#byId.values();
  }

  /** The ids of the joined sockets by user, without those that watch: the index itself, not a copy. */
  get joinedByUser(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#joinedByUser;
  }

  ids(): string[] {
    return [...this.#byId.keys()];
  }

  get joinedIds(): readonly string[] {
    this.#joinedIds ??= [...this.#joinedByUser.values(), this.#watching].flatMap((ids) => [...ids]);
    return this.#joinedIds;
  }

  idsOf(userId: string): readonly string[] {
    return [...(this.#joinedByUser.get(userId) ?? [])];
  }

  /** Users with a socket who belong to an identity; null: to any identity. */
  ofIdentities(identityId: string | null): string[] {
    const users = new Set<string>();
    for (const connection of this.all())
      if (connection.phase === "joined" && connection.identityId !== undefined)
        if (identityId === null || connection.identityId === identityId) users.add(connection.userId);
    return [...users];
  }

  /** How many sockets of this person only watch. */
  watchersOf(userId: string): number {
    return [...this.#watching].filter((id) => {
      const connection = this.#byId.get(id);
      return connection?.phase === "joined" && connection.userId === userId;
    }).length;
  }

  /** The sockets of a reader: of all users of its identity, or of a user without one. */
  idsOfReader({ subject, userId }: Reader): string[] {
    const users = subject === userId ? [userId] : this.ofIdentities(subject);
    return users.flatMap((user) => this.idsOf(user));
  }

  hasUser(userId: string): boolean {
    return this.#joinedByUser.has(userId);
  }

  users(): ReadonlySet<string> {
    return new Set(this.#joinedByUser.keys());
  }

  sendToAll(messages: readonly ServerEvent[], exceptUserId?: string): Effect[] {
    if (messages.length === 0) return []; // most requests change nothing, and listing the sockets costs
    const except = exceptUserId === undefined ? undefined : this.#joinedByUser.get(exceptUserId);
    const to = except === undefined ? this.joinedIds : this.joinedIds.filter((id) => !except.has(id));
    return to.length === 0 ? [] : messages.flatMap((message) => this.#sendTo(to, message));
  }

  #sendTo(to: readonly string[], message: ServerEvent): Effect[] {
    const shown = this.#ofGuests.size === 0 ? message : eventForGuest(message);
    if (shown === message) return [send(to, message)];
    const [guests, others] = [
      to.filter((id) => this.#ofGuests.has(id)),
      to.filter((id) => !this.#ofGuests.has(id)),
    ];
    return [send(others, message), send(guests, shown)];
  }
}

/** The phases of an address's sockets by id, oldest first. No such map is empty. */
type SocketsOfAddress = Map<string, (Waiting | Authorizing)["phase"]>;

/** Sockets that have not joined, by address and phase, within bounds that strangers may use. */
class WaitingSockets {
  readonly #byAddress = new Map<string, SocketsOfAddress>();
  #size = 0;

  add({ id, address, phase }: Waiting | Authorizing): void {
    const sockets = this.#byAddress.get(address);
    if (sockets === undefined) this.#byAddress.set(address, new Map([[id, phase]]));
    else sockets.set(id, phase);
    this.#size += 1;
  }

  remove({ id, address }: Waiting | Authorizing): void {
    const sockets = this.#byAddress.get(address);
    if (!sockets?.delete(id)) return;
    this.#size -= 1;
    if (sockets.size === 0) this.#byAddress.delete(address);
  }

  /** The oldest silent socket that gives way to a new one: null while there is room, "none" when all are joining. */
  findSocketToReplace(address: string): string | "none" | null {
    const own = this.#byAddress.get(address);
    if (own !== undefined && own.size >= LIMITS.waitingPerAddress) return oldestSilent(own) ?? "none";
    if (this.#size < LIMITS.waitingSockets) return null;
    const bySize = [...this.#byAddress.values()].sort((one, other) => other.size - one.size);
    for (const sockets of bySize) {
      const silent = oldestSilent(sockets);
      if (silent !== null) return silent;
    }
    return "none";
  }
}

/** A client that joins sends `JOIN_ROOM` at once: the oldest silent socket is the least likely one. */
function oldestSilent(sockets: SocketsOfAddress): string | null {
  for (const [id, phase] of sockets) {
    if (phase === "waiting") return id;
  }
  return null;
}

/** Sockets that do not join are closed together, and so are those whose tokens expire: each alarm is stored. */
const JOIN_GRANULARITY_MS = 250;
const EXPIRY_GRANULARITY_MS = 60_000;
const roundUp = (time: number, granularityMs: number): number =>
  Math.ceil(time / granularityMs) * granularityMs;
const NEVER = Number.NEGATIVE_INFINITY;

export type Overdue = "joinTimeout" | "silent" | "tokenExpired";

/** The time by which a socket must have joined. A held join has longer. */
const joinDeadline = ({ phase, openedAt }: Waiting | Authorizing, heldUntil: number): number =>
  (phase === "waiting" ? openedAt : Math.max(openedAt, heldUntil)) + LIMITS.joinDeadlineMs;

/** The deadline that a socket has missed at `now`; null when it may stay. Joins are held until `heldUntil`. */
export function findOverdue(connection: Connection, now: number, heldUntil = NEVER): Overdue | null {
  if (connection.phase !== "joined") return now >= joinDeadline(connection, heldUntil) ? "joinTimeout" : null;
  if (now >= connection.lastSeenAt + LIMITS.silenceMs) return "silent";
  return now >= connection.tokenExpiresAt ? "tokenExpired" : null;
}

/**
 * When to check the sockets next (epoch ms); null without sockets. While messages arrive, none is silent for long unnoticed;
 * when none has arrived for a time, the room sleeps for as long again. A sweep also repairs the room after a crash.
 */
export function planAlarm(now: number, connections: Iterable<Connection>, heldUntil = NEVER): number | null {
  let next = Number.POSITIVE_INFINITY;
  let silentAt = Number.POSITIVE_INFINITY;
  let activeAt = Number.NEGATIVE_INFINITY;
  for (const connection of connections) {
    if (connection.phase === "joined") {
      silentAt = Math.min(silentAt, connection.lastSeenAt + LIMITS.silenceMs);
      activeAt = Math.max(activeAt, connection.savedLastSeenAt);
      next = Math.min(next, roundUp(connection.tokenExpiresAt, EXPIRY_GRANULARITY_MS));
    } else {
      next = Math.min(next, roundUp(joinDeadline(connection, heldUntil), JOIN_GRANULARITY_MS));
    }
  }
  // A socket that has not pinged since it was attached is looked at on time, also after hibernation.
  const quietMs = now - activeAt - LIMITS.silenceMs > LAST_SEEN_GRANULARITY_MS ? now - activeAt : 0;
  next = Math.min(next, Math.max(silentAt, now + Math.min(quietMs, LIMITS.sweepIntervalMs)));
  return Number.isFinite(next) ? next : null;
}
