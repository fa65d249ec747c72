/** Who follows whom. The relation is the room's, not a socket's: it outlives reloads and absences. */
import { AppError } from "../../platform/errors.ts";
import { MAX_FOLLOWED } from "../protocol/limits.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { Changes } from "./changes.ts";

export class Follows {
  readonly #storage: RoomStorage;
  readonly #changes: Changes;

  constructor(storage: RoomStorage, changes: Changes) {
    this.#storage = storage;
    this.#changes = changes;
  }

  /** Whom each user follows, by user id. */
  all(): Record<string, string[]> {
    const all = new Map<string, string[]>();
    for (const [follower, followed] of this.#storage.follows.list()) {
      const known = all.get(follower);
      if (known === undefined) all.set(follower, [followed]);
      else known.push(followed);
    }
    return Object.fromEntries(all);
  }

  of(follower: string): string[] {
    return this.#storage.follows.listFollowed(follower);
  }

  /** Following a user twice is following it. */
  follow(follower: string, followed: string): void {
    if (follower === followed) throw new AppError("Rooms", "BAD_REQUEST", "Nobody can follow itself");
    const table = this.#storage.follows;
    if (table.has(follower, followed)) return;
    if (table.listFollowed(follower).length >= MAX_FOLLOWED)
      throw new AppError("Rooms", "CONFLICT", `A user can follow ${MAX_FOLLOWED} others at most`);
    table.insert(follower, followed);
    this.#changes.append("userFollowed", () => ({ userId: followed, followerId: follower }));
  }

  unfollow(follower: string, followed: string): void {
    if (!this.#storage.follows.has(follower, followed)) return;
    this.#storage.follows.delete(follower, followed);
    this.#changes.append("userUnfollowed", () => ({ userId: followed, followerId: follower }));
  }
}
