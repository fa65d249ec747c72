/** Who follows whom in the room, from either end. */

export class Follows {
  readonly #followed = new Map<string, Set<string>>();
  readonly #followers = new Map<string, Set<string>>();

  /** Forgets all, and takes up what the service says: whom each user follows. */
  replace(follows: Readonly<Record<string, readonly string[]>>): void {
    this.#followed.clear();
    this.#followers.clear();
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

  /** The ids of those whom the user follows. */
  followedBy = (userId: string): string[] => [...(this.#followed.get(userId) ?? [])];

  /** The ids of those who follow the user. */
  followersOf = (userId: string): string[] => [...(this.#followers.get(userId) ?? [])];

  /** Ends all that a user who is gone had part in. Returns the ids of the others. */
  forget(userId: string): string[] {
    const [followed, followers] = [this.followedBy(userId), this.followersOf(userId)];
    for (const other of followed) this.remove(userId, other);
    for (const other of followers) this.remove(other, userId);
    return [...followed, ...followers];
  }
}

function put(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}
