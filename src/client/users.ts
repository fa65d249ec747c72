/** `client.users`: everybody in the room, online or not, and who follows whom. */
import { Emitter } from "./emitter.ts";
import { Follows } from "./follows.ts";
import { type Data, isCount, isUser, type Joined, listOf } from "./frames.ts";
import type { Session } from "./session.ts";
import type { UserRecord } from "./wire.ts";

/** Users asked for at once. */
const PAGE = 1_000;
/** What can be changed of a user; who is online is known better from who comes and goes. */
const FIELDS = ["name", "profile_picture", "custom_id", "role"] as const;

/** A user as it is now. A change makes a new object, which takes the old one's place in the maps. */
export interface User extends UserRecord {
  /** Ids of those whom the user follows. */
  readonly following: readonly string[];
  /** Ids of those who follow the user. */
  readonly followers: readonly string[];
  /** Makes you follow this user. */
  follow(): Promise<void>;
  unfollow(): Promise<void>;
}

/** Who follows (`followerId`) whom (`userId`). */
export interface Following {
  readonly userId: string;
  readonly followerId: string;
}

export interface UsersEvents {
  /** Another user has come online, or gone offline. */
  userJoined: User;
  userLeft: User;
  userCreated: User;
  userUpdated: User;
  /** With the user as it was. */
  userDeleted: User;
  userFollowed: Following;
  userUnfollowed: Following;
  /** Something in the maps has changed, whatever it was. */
  updated: undefined;
}

export class Users extends Emitter<UsersEvents> {
  readonly #session: Session;
  readonly #follows = new Follows();
  readonly #all = new Map<string, User>();
  readonly #online = new Map<string, User>();
  /** False before the first join, whose news are none. */
  #isAnnouncing = false;
  /** Whether `all` holds those who are offline too. */
  #isComplete = false;
  /** Users of whom something was told while all are being asked for: the answer may be older. */
  readonly #touched = new Set<string>();

  constructor(session: Session) {
    super();
    this.#session = session;
    const { feed } = session;
    feed.hear("userJoined", ({ user }) => this.#arrive(user));
    feed.hear("userLeft", ({ user }) => this.#leave(user));
    feed.hear("userCreated", ({ user }) => this.#learn("userCreated", user));
    feed.hear("userUpdated", ({ user }) => this.#learn("userUpdated", user));
    feed.hear("userDeleted", ({ userId }) => this.#delete(String(userId)));
    feed.hear("userFollowed", (data) => this.#follow("userFollowed", data));
    feed.hear("userUnfollowed", (data) => this.#follow("userUnfollowed", data));
    feed.onJoined((joined) => this.#enter(joined));
  }

  /** Everybody by id, oneself included: a live map, changed before listeners are called. */
  get all(): ReadonlyMap<string, User> {
    return this.#all;
  }

  /** Those of {@link all} who are online. */
  get online(): ReadonlyMap<string, User> {
    return this.#online;
  }

  /** The user, or null when the room has no such user. */
  get({ userId }: { readonly userId: string }): User | null {
    return this.#all.get(userId) ?? null;
  }

  getAll(): User[] {
    return [...this.#all.values()];
  }

  #put(record: UserRecord, isOnline: boolean): User {
    const { id } = record;
    const ask = (type: string) => () => this.#session.requests.ask(type, { userId: id }, { take: () => {} });
    const user: User = {
      ...record,
      status: isOnline ? "online" : "offline",
      following: this.#follows.followedBy(id),
      followers: this.#follows.followersOf(id),
      follow: ask("USER_FOLLOW"),
      unfollow: ask("USER_UNFOLLOW"),
    };
    this.#touched.add(id);
    this.#all.set(id, user);
    if (isOnline) this.#online.set(id, user);
    else this.#online.delete(id);
    return user;
  }

  /** Makes a user anew, because of what is known of it. */
  #renew(userId: string): void {
    const user = this.#all.get(userId);
    if (user !== undefined) this.#put(user, this.#online.has(userId));
  }

  #tell(event: "userJoined" | "userLeft" | "userCreated" | "userUpdated" | "userDeleted", user: User): void {
    if (!this.#isAnnouncing) return;
    this.emit(event, user);
    this.emit("updated", undefined);
  }

  #arrive(record: unknown): void {
    if (!isUser(record)) return;
    if (this.#online.has(record.id)) this.#refresh(record, true);
    else this.#tell("userJoined", this.#put(record, true));
  }

  #leave(record: unknown): void {
    if (isUser(record) && this.#online.has(record.id)) this.#tell("userLeft", this.#put(record, false));
  }

  #learn(event: "userCreated" | "userUpdated", record: unknown): void {
    if (isUser(record)) this.#tell(event, this.#put(record, this.#online.has(record.id)));
  }

  #delete(userId: string): void {
    const user = this.#all.get(userId);
    this.#touched.add(userId);
    this.#all.delete(userId);
    this.#online.delete(userId);
    for (const other of this.#follows.forget(userId)) this.#renew(other);
    if (user !== undefined) this.#tell("userDeleted", { ...user, status: "offline" });
  }

  #follow(event: "userFollowed" | "userUnfollowed", { userId, followerId }: Data): void {
    if (typeof userId !== "string" || typeof followerId !== "string") return;
    if (event === "userFollowed") this.#follows.add(followerId, userId);
    else this.#follows.remove(followerId, userId);
    this.#renew(userId);
    this.#renew(followerId);
    this.emit(event, { userId, followerId });
    this.emit("updated", undefined);
  }

  #enter({ users, follows, changes }: Joined): Promise<void> | undefined {
    if (changes === null) this.#isComplete = false;
    this.#follows.replace(follows);
    for (const userId of this.#all.keys()) this.#renew(userId);
    const present = new Set(users.map(({ id }) => id));
    const gone = [...this.#online.values()].filter(({ id }) => !present.has(id));
    for (const user of gone) this.#leave(user);
    for (const user of users) this.#arrive(user);
    if (this.#isComplete) {
      this.emit("updated", undefined);
      return;
    }
    return this.#loadAll();
  }

  async #loadAll(): Promise<void> {
    const found = new Set<string>();
    this.#touched.clear();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      total = await this.#session.requests.ask(
        "USERS_GET",
        { limit: PAGE, offset },
        { resend: false, take: (answer) => this.#takePage(answer, found) },
      );
    }
    for (const userId of this.#all.keys()) {
      if (!found.has(userId) && !this.#touched.has(userId)) this.#delete(userId);
    }
    this.#isComplete = true;
    this.#isAnnouncing = true;
    this.emit("updated", undefined);
  }

  #takePage({ users, total }: Data, found: Set<string>): number {
    for (const record of listOf(users, isUser)) {
      found.add(record.id);
      if (!this.#touched.has(record.id)) this.#meet(record);
    }
    return isCount(total) ? total : 0;
  }

  /** Takes up what the database says of a user. */
  #meet(record: UserRecord): void {
    if (this.#all.has(record.id)) this.#refresh(record, this.#online.has(record.id));
    else this.#learn("userCreated", record);
  }

  /** Takes up a record of a known user, which may or may not say something new. */
  #refresh(record: UserRecord, isOnline: boolean): void {
    const before = this.#all.get(record.id);
    const user = this.#put(record, isOnline);
    if (before !== undefined && FIELDS.some((field) => before[field] !== user[field]))
      this.#tell("userUpdated", user);
  }
}
