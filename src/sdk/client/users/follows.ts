/** Which users follow which, indexed by both. */
export class Follows {
  readonly #followed = new Map<string, Set<string>>();
  readonly #followers = new Map<string, Set<string>>();

  /** Adds the given lists: the ids that each user follows. */
  addLists(follows: Readonly<Record<string, readonly string[]>>): void {
    for (const [follower, followed] of Object.entries(follows)) {
      for (const userId of followed) this.add(follower, userId);
    }
  }

  add(follower: string, followed: string): void {
    put(this.#followed, follower, followed);
    put(this.#followers, followed, follower);
  }

  remove(follower: string, followed: string): void {
    this.#followed.get(follower)?.delete(followed);
    this.#followers.get(followed)?.delete(follower);
  }

  /** The ids of the users that this user follows. */
  followedBy = (userId: string): string[] => [...(this.#followed.get(userId) ?? [])];

  /** The ids of the users who follow this user. */
  followersOf = (userId: string): string[] => [...(this.#followers.get(userId) ?? [])];

  /** Removes a deleted user. Returns the ids of the users that it followed or that followed it. */
  removeUser(userId: string): string[] {
    const [followed, followers] = [this.followedBy(userId), this.followersOf(userId)];
    for (const other of followed) this.remove(userId, other);
    for (const other of followers) this.remove(other, userId);
    return [...followed, ...followers];
  }
}

function put(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}
