/** The room's sockets, indexed by id and by user, and the messages addressed to them. */
import { KeyedLimits, TokenBucket } from "../../platform/flow/token-bucket.ts";
import { CONNECTIONS_OF_ADDRESS } from "../protocol/costs.ts";
import type { Sendable } from "../protocol/frame.ts";
import {
  JOIN_DEADLINE_MS,
  MAX_WAITING_PER_ADDRESS,
  MAX_WAITING_SOCKETS,
  SILENCE_MS,
  SWEEP_INTERVAL_MS,
} from "../protocol/protocol.ts";
import type { Authorizing, Connection, Effect, Joined, Waiting } from "./connection.ts";

/** Whether an editor's own client has opened the socket: the room's protocol is not spoken there. */
export const isOfDocuments = ({ documents }: Connection): boolean =>
  documents !== undefined && documents.wire !== "room";

/**
 * How old the sign of life in the attachment may get before it is rewritten. After hibernation, a socket that
 * sends messages but no pings is dropped up to this much late, and never early.
 */
export const LAST_SEEN_GRANULARITY_MS = 5_000;

/** Sends a message to sockets. */
export const send = (to: readonly string[], message: Sendable): Effect => ({
  type: "send",
  to,
  message,
});

export class Connections {
  readonly #byId = new Map<string, Connection>();
  readonly #joinedByUser = new Map<string, Set<string>>();
  /** The ids of all joined sockets; null when they have changed. */
  #joinedIds: readonly string[] | null = null;
  #joinedCount = 0;
  /** Sockets that have not joined: they may be strangers'. */
  readonly waiting = new WaitingSockets();
  /** Sockets that do not join cost an address more than those that do. */
  readonly addresses = new KeyedLimits((now) => new TokenBucket(CONNECTIONS_OF_ADDRESS, now));

  get(id: string): Connection | undefined {
    return this.#byId.get(id);
  }

  /** Adds a connection, or replaces one that changes its phase. */
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
    const ids = this.#joinedByUser.get(connection.userId);
    if (ids === undefined) this.#joinedByUser.set(connection.userId, new Set([connection.id]));
    else ids.add(connection.id);
  }

  /** Replaces a joined connection of the same user, without touching the index. */
  update(connection: Joined): void {
    this.#byId.set(connection.id, connection);
  }

  /** A joined socket was seen at `now`. The sign of life is kept in memory, and with the socket now and then. */
  recordSeen(connection: Joined, now: number): Effect[] {
    connection.lastSeenAt = now;
    if (now - connection.savedLastSeenAt < LAST_SEEN_GRANULARITY_MS) return [];
    const saved = { ...connection, savedLastSeenAt: now };
    this.update(saved);
    return [{ type: "attach", connection: saved }];
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

  /** The ids of all joined sockets by user: the index itself, not a copy. */
  get joinedByUser(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#joinedByUser;
  }

  /** The ids of all sockets, joined or not. */
  ids(): string[] {
    return [...this.#byId.keys()];
  }

  /** The ids of all joined sockets. */
  get joinedIds(): readonly string[] {
    this.#joinedIds ??= [...this.#joinedByUser.values()].flatMap((ids) => [...ids]);
    return this.#joinedIds;
  }

  /** The ids of a user's joined sockets. */
  idsOf(userId: string): readonly string[] {
    return [...(this.#joinedByUser.get(userId) ?? [])];
  }

  /** True when the user has a joined socket. */
  hasUser(userId: string): boolean {
    return this.#joinedByUser.has(userId);
  }

  /** The users who have a joined socket. */
  users(): ReadonlySet<string> {
    return new Set(this.#joinedByUser.keys());
  }

  /** Sends messages to all joined sockets, except those of one user. */
  sendToAll(messages: readonly Sendable[], exceptUserId?: string): Effect[] {
    if (messages.length === 0) return []; // most requests change nothing, and listing the sockets costs
    const except = exceptUserId === undefined ? undefined : this.#joinedByUser.get(exceptUserId);
    const to = except === undefined ? this.joinedIds : this.joinedIds.filter((id) => !except.has(id));
    return to.length === 0 ? [] : messages.map((message) => send(to, message));
  }
}

/** The phases of an address's sockets by id, oldest first. No such map is empty. */
type SocketsOfAddress = Map<string, (Waiting | Authorizing)["phase"]>;

export class WaitingSockets {
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

  /**
   * The socket that gives way to a new one from `address`: the oldest that has sent nothing, of the same address if
   * that has its share, or else of the address that has the most. Null when there is room, and "none" when all of
   * them are joining.
   */
  giveWayTo(address: string): string | "none" | null {
    const own = this.#byAddress.get(address);
    if (own !== undefined && own.size >= MAX_WAITING_PER_ADDRESS) return oldestSilent(own) ?? "none";
    if (this.#size < MAX_WAITING_SOCKETS) return null;
    const bySize = [...this.#byAddress.values()].sort((one, other) => other.size - one.size);
    for (const sockets of bySize) {
      const silent = oldestSilent(sockets);
      if (silent !== null) return silent;
    }
    return "none";
  }
}

/** A client that means to join sends `JOIN_ROOM` at once, so the oldest of the others is the last to be one. */
function oldestSilent(sockets: SocketsOfAddress): string | null {
  for (const [id, phase] of sockets) {
    if (phase === "waiting") return id;
  }
  return null;
}

/** Sockets that do not join are closed together, so that a thousand of them need few alarms: each one is stored. */
const JOIN_GRANULARITY_MS = 250;
const NEVER = Number.NEGATIVE_INFINITY;

/** Why a socket must be closed. */
export type Overdue = "joinTimeout" | "silent" | "tokenExpired";

/** When a socket must have joined. The time in which the room holds joins does not count for one that has asked to. */
const joinDeadline = ({ phase, openedAt }: Waiting | Authorizing, heldUntil: number): number =>
  (phase === "waiting" ? openedAt : Math.max(openedAt, heldUntil)) + JOIN_DEADLINE_MS;

/** The deadline that a socket has missed at `now`; null when it may stay. Joins are held until `heldUntil`. */
export function findOverdue(connection: Connection, now: number, heldUntil = NEVER): Overdue | null {
  if (connection.phase !== "joined") return now >= joinDeadline(connection, heldUntil) ? "joinTimeout" : null;
  if (now >= connection.lastSeenAt + SILENCE_MS) return "silent";
  return now >= connection.tokenExpiresAt ? "tokenExpired" : null;
}

/**
 * When to check the sockets next (epoch ms); null without sockets. While a user is online that is at most
 * {@link SWEEP_INTERVAL_MS} ahead: the alarm survives a crash, and it is what repairs the room afterwards.
 */
export function planAlarm(now: number, connections: Iterable<Connection>, heldUntil = NEVER): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const connection of connections) {
    const dueAt =
      connection.phase === "joined"
        ? Math.min(connection.lastSeenAt + SILENCE_MS, now + SWEEP_INTERVAL_MS)
        : Math.ceil(joinDeadline(connection, heldUntil) / JOIN_GRANULARITY_MS) * JOIN_GRANULARITY_MS;
    next = Math.min(next, dueAt);
  }
  return Number.isFinite(next) ? next : null;
}
