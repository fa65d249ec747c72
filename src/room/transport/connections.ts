/** The room's sockets, indexed by id and by user, and the messages addressed to them. */
import { KeyedLimits, TokenBucket } from "../../platform/flow/token-bucket.ts";
import { CONNECTIONS_OF_ADDRESS } from "../protocol/costs.ts";
import type { Sendable } from "../protocol/frame.ts";
import { type Connection, type Joined, LAST_SEEN_GRANULARITY_MS } from "./connection.ts";
import type { Effect } from "./effects.ts";
import { WaitingSockets } from "./waiting-sockets.ts";

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
