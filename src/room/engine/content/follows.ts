/** Who follows whom. This belongs to the room, not to a socket: it survives reloads and absences. */
import { AppError } from "../../../platform/errors.ts";
import { byteLength } from "../../../platform/text.ts";
import { MAX_FOLLOWED, MAX_JOIN_FOLLOWS_BYTES } from "../../protocol/limits.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { Changes } from "./changes.ts";

/** More never fit into the response to `JOIN_ROOM`: ids are UUIDs. */
const MAX_PAIRS_SHOWN = 300;

function addTo(lists: Map<string, string[]>, follower: string, followed: string): void {
  const known = lists.get(follower);
  if (known === undefined) lists.set(follower, [followed]);
  else known.push(followed);
}

export class Follows {
  readonly #storage: RoomStorage;
  readonly #changes: Changes;

  constructor(storage: RoomStorage, changes: Changes) {
    this.#storage = storage;
    this.#changes = changes;
  }

  /** Whom these users follow, by user id, for those who follow anyone. */
  of(userIds: readonly string[]): Record<string, string[]> {
    const lists = new Map<string, string[]>();
    for (const [follower, followed] of this.#storage.follows.listOf(userIds))
      addTo(lists, follower, followed);
    return Object.fromEntries(lists);
  }

  /** What a joining user receives: its own list, then the earliest follows of the room, as many as fit. */
  shownTo(userId: string): Record<string, string[]> {
    const own = this.#storage.follows.listFollowed(userId).map((followed) => [userId, followed] as const);
    const others = this.#storage.follows.list(MAX_PAIRS_SHOWN).filter(([follower]) => follower !== userId);
    const shown = new Map<string, string[]>();
    let bytes = 0;
    for (const [follower, followed] of [...own, ...others]) {
      bytes += byteLength(JSON.stringify({ [follower]: [followed] }));
      if (bytes > MAX_JOIN_FOLLOWS_BYTES) break;
      addTo(shown, follower, followed);
    }
    return Object.fromEntries(shown);
  }

  /** The users whom anyone follows. */
  allFollowed(): ReadonlySet<string> {
    return new Set(this.#storage.follows.list(null).map(([, followed]) => followed));
  }

  /** Forgets users who do not exist: a backup may have the room as it was before their deletion. */
  forget(userIds: readonly string[]): void {
    this.#changes.transaction(() => {
      for (const userId of userIds) this.#storage.follows.deleteUser(userId);
    });
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
