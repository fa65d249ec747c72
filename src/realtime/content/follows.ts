/** Who follows whom. This belongs to the room, not to a socket: it survives reloads and absences. */
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

  /** Following a user again changes nothing. BAD_REQUEST for following oneself, CONFLICT above the limit. */
  follow(follower: string, followed: string): void {
    if (follower === followed) throw new AppError("Rooms", "BAD_REQUEST", "A user cannot follow themselves");
    const table = this.#storage.follows;
    if (table.has(follower, followed)) return;
    if (table.listFollowed(follower).length >= MAX_FOLLOWED)
      throw new AppError("Rooms", "CONFLICT", `A user can follow at most ${MAX_FOLLOWED} others`);
    table.insert(follower, followed);
    this.#changes.append("userFollowed", () => ({ userId: followed, followerId: follower }));
  }

  unfollow(follower: string, followed: string): void {
    if (!this.#storage.follows.has(follower, followed)) return;
    this.#storage.follows.delete(follower, followed);
    this.#changes.append("userUnfollowed", () => ({ userId: followed, followerId: follower }));
  }
}
