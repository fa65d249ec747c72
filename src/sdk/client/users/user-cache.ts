/** The users of the room, online and offline, and who follows whom: the maps behind `client.users`. */
import type { UserRecord } from "../../wire/resources.ts";

export class Follows {
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

  /** The ids of the users that this user follows. */
  followedBy = (userId: string): string[] => [...(this.#followed.get(userId) ?? [])];

  /** The ids of the users who follow this user. */
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
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
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

export class UserCache {
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
    const user: User = {
      ...record,
      status: isOnline ? "online" : "offline",
      following: this.#follows.followedBy(id),
      followers: this.#follows.followersOf(id),
      follow: () => this.#send("USER_FOLLOW", id),
      unfollow: () => this.#send("USER_UNFOLLOW", id),
    };
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

  /** Replaces all follows by the given lists. */
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
