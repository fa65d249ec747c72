/** Which users follow which, indexed by both. */
export class Follows {
  readonly #followed = new Map<string, Set<string>>();
  readonly #followers = new Map<string, Set<string>>();

  /** Adds the given lists: the ids that each user follows. */
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

  /** Removes a deleted user. Returns the ids of the users that it followed or that followed it. */
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
