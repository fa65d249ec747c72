/** The room's sockets as the room sees them: waiting, being approved, or joined as somebody. */
import type { Role } from "../../users/schema.ts";
import type { JoinRoom } from "../protocol/messages.ts";

/** A socket that has said nothing yet. */
export interface Waiting {
  readonly phase: "waiting";
  readonly id: string;
  /** Times here and below are epoch milliseconds. */
  readonly openedAt: number;
}

/** A valid `JOIN_ROOM` whose token is yet to be looked at. */
export interface JoinRequest extends JoinRoom {
  readonly requestId: string | undefined;
}

/** A socket whose token is being looked at. */
export interface Authorizing {
  readonly phase: "authorizing";
  readonly id: string;
  readonly openedAt: number;
  readonly request: JoinRequest;
  /** Something changed since the question was asked: the answer may be out of date. */
  readonly stale: boolean;
}

/** A socket of a user who is online by it. */
export interface Joined {
  readonly phase: "joined";
  readonly id: string;
  readonly userId: string;
  readonly role: Role;
  readonly tokenExpiresAt: number;
  /** The latest sign of life that is known in memory. */
  readonly heardAt: number;
  /** The one that is kept with the socket and outlives hibernation. */
  readonly savedHeardAt: number;
  /** Takes what came in one turn as one frame that holds an array. */
  readonly batch: boolean;
  /** Whose presence it wants to hear of. */
  readonly subscriptions: readonly string[];
  /** Its user's presence state as JSON, where this socket is the one that keeps it. */
  readonly presence: string | null;
  /** Frames that it may still send before it floods, as of `allowanceAt`. */
  readonly frameTokens: number;
  readonly frameTokensAt: number;
}

export type Connection = Waiting | Authorizing | Joined;

/** All sockets of the room, findable by their user. */
export class Connections {
  readonly #all = new Map<string, Connection>();
  readonly #joinedByUser = new Map<string, Set<string>>();
  #joinedCount = 0;

  get(id: string): Connection | undefined {
    return this.#all.get(id);
  }

  put(connection: Connection): void {
    this.remove(connection.id);
    this.#all.set(connection.id, connection);
    if (connection.phase !== "joined") return;
    this.#joinedCount += 1;
    const tabs = this.#joinedByUser.get(connection.userId);
    if (tabs === undefined) this.#joinedByUser.set(connection.userId, new Set([connection.id]));
    else tabs.add(connection.id);
  }

  /** Replaces a joined socket's entry by one of the same user, which costs no more than that. */
  refresh(connection: Joined): void {
    this.#all.set(connection.id, connection);
  }

  remove(id: string): Connection | undefined {
    const connection = this.#all.get(id);
    if (connection === undefined) return undefined;
    this.#all.delete(id);
    if (connection.phase === "joined") this.#removeTab(connection);
    return connection;
  }

  #removeTab({ id, userId }: Joined): void {
    this.#joinedCount -= 1;
    const tabs = this.#joinedByUser.get(userId);
    tabs?.delete(id);
    if (tabs?.size === 0) this.#joinedByUser.delete(userId);
  }

  clear(): void {
    this.#all.clear();
    this.#joinedByUser.clear();
    this.#joinedCount = 0;
  }

  get joinedCount(): number {
    return this.#joinedCount;
  }

  /** Those that have not joined, the ones being approved included. */
  get waitingCount(): number {
    return this.#all.size - this.#joinedCount;
  }

  all(): Iterable<Connection> {
    return this.#all.values();
  }

  /** The ids of all joined sockets by user, as they are: nothing is copied. */
  get tabs(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#joinedByUser;
  }

  /** The ids of a user's joined sockets. */
  tabsOf(userId: string): readonly string[] {
    return [...(this.#joinedByUser.get(userId) ?? [])];
  }

  /** True when the user has a joined socket. */
  has(userId: string): boolean {
    return this.#joinedByUser.has(userId);
  }

  /** The users who have a joined socket. */
  users(): ReadonlySet<string> {
    return new Set(this.#joinedByUser.keys());
  }

  /** The ids of all joined sockets, but for those of one user. */
  joinedIds(exceptUserId?: string): string[] {
    const ids: string[] = [];
    for (const [userId, tabs] of this.#joinedByUser) {
      if (userId !== exceptUserId) ids.push(...tabs);
    }
    return ids;
  }
}
