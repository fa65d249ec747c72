/** `client.users`: the users of the room, online and offline, and who follows whom. */
import { Emitter, getOrAdd } from "../core/emitter.ts";
import { frozen } from "../core/json.ts";
import type { Abortable } from "../core/runtime.ts";
import type { User as UserRecord } from "../wire/resources.ts";
import type { Connection } from "./connection/connection.ts";
import { type Data, isUser, type Joined, listOf, readFollows } from "./connection/frames.ts";
import type { PendingRequests } from "./connection/requests.ts";

/** The users of one response. Older users who are not online are loaded on demand. */
const PAGE = 1_000;
/** The users that one request names. */
const NAMED = 100;
/** Later than any time: no loaded user counts as new. */
const NOT_LOADED = "~";
const FIELDS = ["name", "profile_picture", "custom_id", "role"] as const;

/** The user `followerId` follows the user `userId`. */
export interface Following {
  readonly userId: string;
  readonly followerId: string;
}

export interface UsersEvents {
  /**
   * Another user came online: its first tab joined. After a start without a network, also emitted for users
   * online before.
   */
  userJoined: User;
  /** Another user went offline: its last tab left. */
  userLeft: User;
  userCreated: User;
  userUpdated: User;
  /** The user as it was. */
  userDeleted: User;
  userFollowed: Following;
  userUnfollowed: Following;
  /** Anything in the maps has changed. */
  updated: undefined;
}

export class Users extends Emitter<UsersEvents> {
  readonly #connection: Connection;
  readonly #requests: PendingRequests;
  readonly #cache: UserCache;
  /** Whether offline users are up to date, as far as they were loaded. */
  #isCurrent = false;
  /** The last user of the latest page; undefined on the last page. */
  #last: UserRecord | undefined;
  /** The creation time of the newest loaded user; null until the first page, which emits no events. */
  #newest: string | null = null;
  /** Online users by the latest join, as far as known. */
  #present = new Set<string>();
  /** Users of events since the latest join: the database may be behind for them. */
  readonly #updatedSinceJoin = new Set<string>();
  /** Users that {@link load} will ask for. */
  readonly #wanted = new Set<string>();
  #loading: Promise<void> | null = null;
  /** Users that were not in the room when it was asked, or were deleted. */
  readonly #missing = new Set<string>();

  constructor(connection: Connection) {
    super();
    const { requests, changeStream } = connection;
    this.#connection = connection;
    this.#requests = requests;
    this.#cache = new UserCache((type, userId) => requests.send(type, { userId }, { read: () => {} }));
    changeStream.handle("userJoined", ({ user }) => this.#userJoined(user));
    changeStream.handle("userLeft", ({ user }) => this.#userLeft(user));
    changeStream.handle("userDeleted", ({ userId }) => this.#delete(String(userId)));
    for (const event of ["userCreated", "userUpdated"] as const)
      changeStream.handle(event, ({ user }) => this.#put(event, user));
    for (const event of ["userFollowed", "userUnfollowed"] as const)
      changeStream.handle(event, (data) => this.#follow(event, data));
    changeStream.onJoined((joined) => this.#joined(joined));
    requests.onStopped(() => this.#stopped());
  }

  /** Forgets the users online. The next join is like the first one. */
  #stopped(): void {
    this.#newest = null;
    this.#isCurrent = false;
    for (const user of [...this.online.values()]) this.#cache.put(user, false);
    this.emit("updated", undefined);
  }

  /** Shows the kept own user before the first join. Users who come online afterwards emit events. */
  restore(own: UserRecord): void {
    if (this.#newest !== null) return;
    this.#newest = NOT_LOADED;
    this.#cache.put(own, false);
    this.emit("updated", undefined);
  }

  /** A live map by id: all online users, and the newest 1,000 others, or more after {@link loadMore} and {@link find}. */
  get all(): ReadonlyMap<string, User> {
    return this.#cache.all;
  }

  get online(): ReadonlyMap<string, User> {
    return this.#cache.online;
  }

  /** The user, or null if the room has no such user. */
  get({ userId }: { readonly userId: string }): User | null {
    return this.all.get(userId) ?? null;
  }

  /** Whether the room has older users, for {@link loadMore}. */
  get hasMore(): boolean {
    return this.#last !== undefined;
  }

  /** Adds up to 1,000 older users to {@link all}, if there are any. */
  async loadMore(): Promise<void> {
    if (this.#last !== undefined) await this.#load(this.#last);
  }

  /** Adds these users to {@link all}, unless they are there: the authors of older comments. Calls of one turn share a request. */
  load({ userIds }: { readonly userIds: readonly string[] }): Promise<void> {
    for (const userId of userIds)
      if (!this.all.has(userId) && !this.#missing.has(userId)) this.#wanted.add(userId);
    this.#loading ??= this.#loadWanted().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  /**
   * Up to 20 users of the room whose name contains this text, ignoring case; names that begin with it come
   * first. Adds them to {@link all}, for a list that opens while a name is typed.
   */
  async find({ search, signal }: Abortable & { readonly search: string }): Promise<User[]> {
    const read = (data: Data) => this.#add(data);
    const options = { read, signal, overtakes: true };
    const found = await this.#requests.send("USERS_GET", { search }, options);
    this.emit("updated", undefined);
    return found.flatMap(({ id }) => this.get({ userId: id }) ?? []);
  }

  #add({ users, follows }: Data): readonly UserRecord[] {
    this.#cache.addFollows(readFollows(follows));
    const found = listOf(users, isUser);
    for (const user of found) if (!this.#updatedSinceJoin.has(user.id)) this.#refresh(user);
    return found;
  }

  /** Whether the room has no such user, as far as this client has asked by {@link load}, or seen. */
  isMissing({ userId }: { readonly userId: string }): boolean {
    return this.#missing.has(userId) && !this.all.has(userId);
  }

  async #loadWanted(): Promise<void> {
    await null;
    while (this.#wanted.size > 0) {
      const userIds = [...this.#wanted].slice(0, NAMED);
      const read = (data: Data) => {
        this.#add(data);
        for (const userId of userIds) if (!this.all.has(userId)) this.#missing.add(userId);
      };
      try {
        await this.#requests.send("USERS_GET", { userIds, limit: NAMED }, { resend: false, read });
      } finally {
        for (const userId of userIds) this.#wanted.delete(userId);
      }
      this.emit("updated", undefined);
    }
    this.#loading = null; // at once: a later call begins another read
  }

  getAll(): User[] {
    return [...this.all.values()];
  }

  #emitChange(
    event: "userJoined" | "userLeft" | "userCreated" | "userUpdated" | "userDeleted",
    user: User,
  ): void {
    if (this.#newest === null) return;
    this.emit(event, user);
    this.emit("updated", undefined);
  }

  #userJoined(record: unknown): void {
    if (!isUser(record)) return;
    this.#present.add(record.id);
    this.#updatedSinceJoin.add(record.id);
    if (this.online.has(record.id)) this.#refresh(record);
    else {
      const user = this.#cache.put(record, true);
      if (record.id !== this.#connection.userId) this.#emitChange("userJoined", user);
    }
  }

  #userLeft(record: unknown): void {
    if (!isUser(record) || !this.online.has(record.id)) return;
    this.#updatedSinceJoin.add(record.id);
    this.#emitChange("userLeft", this.#cache.put(record, false));
  }

  #put(event: "userCreated" | "userUpdated", record: unknown): void {
    if (!isUser(record)) return;
    this.#updatedSinceJoin.add(record.id);
    this.#emitChange(event, this.#cache.put(record));
  }

  #delete(userId: string): void {
    this.#updatedSinceJoin.add(userId);
    this.#missing.add(userId);
    const user = this.#cache.remove(userId);
    if (user !== undefined) this.#emitChange("userDeleted", { ...user, status: "offline" });
  }

  #follow(event: "userFollowed" | "userUnfollowed", { userId, followerId }: Data): void {
    if (typeof userId !== "string" || typeof followerId !== "string") return;
    this.#cache.setFollow(followerId, userId, event === "userFollowed");
    this.emit(event, { userId, followerId });
    this.emit("updated", undefined);
  }

  async #joined({ online, follows, changes }: Joined): Promise<void> {
    if (changes === null) {
      this.#isCurrent = false;
      this.#missing.clear();
    }
    if (!this.#isCurrent) this.#cache.replaceFollows(follows);
    this.#updatedSinceJoin.clear();
    this.#present = new Set();
    // Joins and leaves between two pages cause events.
    const read = ({ users, next }: Data) => {
      for (const user of listOf(users, isUser)) this.#userJoined(user);
      return next;
    };
    for (let after = read(online); after; ) {
      this.emit("updated", undefined);
      after = await this.#requests.send("USERS_ONLINE", { after }, { resend: false, read });
    }
    for (const user of this.online.values())
      if (!this.#present.has(user.id)) this.#emitChange("userLeft", this.#cache.put(user, false));
    if (!this.#isCurrent) return this.#load();
    this.emit("updated", undefined);
  }

  async #load(after?: UserRecord): Promise<void> {
    const read = ({ users, follows }: Data) => {
      this.#cache.addFollows(readFollows(follows)); // the response to the join has room for some only
      this.#readPage(listOf(users, isUser), after);
    };
    await this.#requests.send("USERS_GET", { after }, { resend: false, read });
    this.#isCurrent = true;
    this.emit("updated", undefined);
  }

  #readPage(page: readonly UserRecord[], after: UserRecord | undefined): void {
    const last = page[PAGE - 1];
    this.#last = last;
    // Events are newer than the page.
    const kept = new Set([...page.map(({ id }) => id), ...this.#updatedSinceJoin]);
    for (const user of this.all.values())
      if (
        !(
          kept.has(user.id) ||
          user.created_at <= (last?.created_at ?? "") ||
          user.created_at >= (after?.created_at ?? "~")
        )
      )
        this.#delete(user.id);
    for (const user of page) if (!this.#updatedSinceJoin.has(user.id)) this.#refresh(user);
    if (after === undefined) this.#newest = page[0]?.created_at ?? "";
  }

  /** Puts a record, and emits an event if the user is new or has changed. */
  #refresh(record: UserRecord): void {
    const before = this.all.get(record.id);
    const user = this.#cache.put(record);
    if (before === undefined) {
      if (record.created_at > (this.#newest ?? "")) this.#emitChange("userCreated", user);
    } else if (FIELDS.some((field) => before[field] !== user[field])) this.#emitChange("userUpdated", user);
  }
}

/** The follows of a room, in both directions. */
class Follows {
  readonly #followed = new Map<string, Set<string>>();
  readonly #followers = new Map<string, Set<string>>();

  addLists(follows: Readonly<Record<string, readonly string[]>>): void {
    for (const [follower, followed] of Object.entries(follows)) {
      for (const userId of followed) this.set(follower, userId, true);
    }
  }

  set(follower: string, followed: string, isFollowing: boolean): void {
    change(this.#followed, follower, followed, isFollowing);
    change(this.#followers, followed, follower, isFollowing);
  }

  followedBy = (userId: string): string[] => [...(this.#followed.get(userId) ?? [])];

  followersOf = (userId: string): string[] => [...(this.#followers.get(userId) ?? [])];

  /** Returns the users that it followed, and its followers. */
  removeUser(userId: string): string[] {
    const followed = this.followedBy(userId);
    const followers = this.followersOf(userId);
    for (const other of followed) this.set(userId, other, false);
    for (const other of followers) this.set(other, userId, false);
    return [...followed, ...followers];
  }
}

function change(sets: Map<string, Set<string>>, key: string, value: string, isMember: boolean): void {
  const set = getOrAdd(sets, key, () => new Set());
  if (isMember) set.add(value);
  else set.delete(value);
}

/** A user. Objects do not change: an update puts a new one into the maps. */
export interface User extends UserRecord {
  /** The ids of the users that this user follows. */
  readonly following: readonly string[];
  /** The ids of the users who follow this user. */
  readonly followers: readonly string[];
  /** Follows this user as the user of this client. */
  follow(): Promise<void>;
  /** Stops following this user. */
  unfollow(): Promise<void>;
}

type Send = (type: "USER_FOLLOW" | "USER_UNFOLLOW", userId: string) => Promise<void>;

class UserCache {
  readonly all = new Map<string, User>();
  readonly online = new Map<string, User>();
  #follows = new Follows();
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Joins and leaves say more reliably than the record whether the user is online. */
  put(record: UserRecord, isOnline: boolean = this.online.has(record.id)): User {
    const { id } = record;
    const user = frozen<User>({
      ...record,
      status: isOnline ? "online" : "offline",
      following: this.#follows.followedBy(id),
      followers: this.#follows.followersOf(id),
      follow: () => this.#send("USER_FOLLOW", id),
      unfollow: () => this.#send("USER_UNFOLLOW", id),
    });
    this.all.set(id, user);
    if (isOnline) this.online.set(id, user);
    else this.online.delete(id);
    return user;
  }

  /** Returns the user as it was; undefined if there is none. */
  remove(userId: string): User | undefined {
    const user = this.all.get(userId);
    this.all.delete(userId);
    this.online.delete(userId);
    this.#refresh(this.#follows.removeUser(userId));
    return user;
  }

  setFollow(follower: string, followed: string, isFollowing: boolean): void {
    this.#follows.set(follower, followed, isFollowing);
    this.#refresh([follower, followed]);
  }

  replaceFollows(follows: Readonly<Record<string, readonly string[]>>): void {
    this.#follows = new Follows();
    this.addFollows(follows, this.all.keys());
  }

  /** Adds the given lists: the ids that each user follows. Users who are not `changed` stay the objects that they are. */
  addFollows(
    follows: Readonly<Record<string, readonly string[]>>,
    changed: Iterable<string> = new Set(Object.entries(follows).flat(2)),
  ): void {
    this.#follows.addLists(follows);
    this.#refresh(changed);
  }

  #refresh(userIds: Iterable<string>): void {
    for (const userId of userIds) {
      const user = this.all.get(userId);
      if (user !== undefined) this.put(user);
    }
  }
}
