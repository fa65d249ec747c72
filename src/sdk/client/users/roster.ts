/** Who is in the room, who of them is online, and who follows whom: the maps behind `client.users`. */

import type { UserRecord } from "../../wire/resources.ts";
import { Follows } from "./follows.ts";

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

/** Asks the service for something about a user. */
type Ask = (type: "USER_FOLLOW" | "USER_UNFOLLOW", userId: string) => Promise<void>;

export class Roster {
  readonly all = new Map<string, User>();
  readonly online = new Map<string, User>();
  readonly #follows = new Follows();
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Takes up a record. Whether the user is online is known better from who comes and goes. */
  put(record: UserRecord, isOnline: boolean = this.online.has(record.id)): User {
    const { id } = record;
    const user: User = {
      ...record,
      status: isOnline ? "online" : "offline",
      following: this.#follows.followedBy(id),
      followers: this.#follows.followersOf(id),
      follow: () => this.#ask("USER_FOLLOW", id),
      unfollow: () => this.#ask("USER_UNFOLLOW", id),
    };
    this.all.set(id, user);
    if (isOnline) this.online.set(id, user);
    else this.online.delete(id);
    return user;
  }

  /** Forgets a user. Returns it as it was; undefined when there is none. */
  remove(userId: string): User | undefined {
    const user = this.all.get(userId);
    this.all.delete(userId);
    this.online.delete(userId);
    this.#renew(this.#follows.forget(userId));
    return user;
  }

  follow(follower: string, followed: string): void {
    this.#follows.add(follower, followed);
    this.#renew([follower, followed]);
  }

  unfollow(follower: string, followed: string): void {
    this.#follows.remove(follower, followed);
    this.#renew([follower, followed]);
  }

  /** Whom each user follows is now this, and nothing else. */
  replaceFollows(follows: Readonly<Record<string, readonly string[]>>): void {
    this.#follows.replace(follows);
    this.#renew(this.all.keys());
  }

  #renew(userIds: Iterable<string>): void {
    for (const userId of userIds) {
      const user = this.all.get(userId);
      if (user !== undefined) this.put(user);
    }
  }
}
