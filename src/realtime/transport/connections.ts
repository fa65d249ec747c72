/** The room's sockets, indexed by id and by user, and the messages addressed to them. */
import type { ServerMessage } from "../protocol/protocol.ts";
import { Addresses } from "./addresses.ts";
import { type Connection, type Joined, LAST_SEEN_GRANULARITY_MS } from "./connection.ts";
import type { Effect } from "./effects.ts";
import { WaitingSockets } from "./waiting-sockets.ts";

/** Sends a message to sockets. */
export const send = (to: readonly string[], message: ServerMessage): Effect => ({
  type: "send",
  to,
  message,
});

export class Connections {
  readonly #byId = new Map<string, Connection>();
  readonly #joinedByUser = new Map<string, Set<string>>();
  #joinedCount = 0;
  /** Those that have not joined. */
  readonly waiting = new WaitingSockets();
  readonly addresses = new Addresses();

  get(id: string): Connection | undefined {
    return this.#byId.get(id);
  }

  /** Adds a connection, or replaces one that changes its phase. */
  put(connection: Connection): void {
    this.remove(connection.id);
    this.#byId.set(connection.id, connection);
    if (connection.phase !== "joined") {
      this.waiting.add(connection);
      return;
    }
    this.#joinedCount += 1;
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
    const mustSave = now - connection.savedLastSeenAt >= LAST_SEEN_GRANULARITY_MS;
    const savedLastSeenAt = mustSave ? now : connection.savedLastSeenAt;
    const seen = { ...connection, lastSeenAt: now, savedLastSeenAt };
    this.update(seen);
    return mustSave ? [{ type: "attach", connection: seen }] : [];
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
  sendToAll(messages: readonly ServerMessage[], exceptUserId?: string): Effect[] {
    if (messages.length === 0) return []; // most requests change nothing, and listing the sockets costs
    const to: string[] = [];
    for (const [userId, ids] of this.#joinedByUser) {
      if (userId !== exceptUserId) to.push(...ids);
    }
    return to.length === 0 ? [] : messages.map((message) => send(to, message));
  }
}
