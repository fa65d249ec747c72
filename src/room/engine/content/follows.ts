/** Followings belong to the room, not to a socket: they survive reloads and absences. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { byteLength } from "@atrium/contract/text.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { Changes } from "./changes.ts";

/** More never fit into the response to `JOIN_ROOM`: ids are UUIDs. */
const MAX_PAIRS_SHOWN = 300;

function addTo(lists: Map<string, string[]>, follower: string, followed: string): void {
  const known = lists.get(follower);
  if (known === undefined) lists.set(follower, [followed]);
  else known.push(followed);
}

export class RoomFollows {
  readonly #table: RoomStorage["follows"];
  readonly #changes: Changes;

  constructor(table: RoomStorage["follows"], changes: Changes) {
    this.#table = table;
    this.#changes = changes;
  }

  /** The users whom each of these users follows, by user id; none for users who follow no one. */
  of(userIds: readonly string[]): Record<string, string[]> {
    const lists = new Map<string, string[]>();
    for (const [follower, followed] of this.#table.listOf(userIds)) addTo(lists, follower, followed);
    return Object.fromEntries(lists);
  }

  /** The follows for a joining user: its own list, then the earliest follows of the room, as many as fit. */
  shownTo(userId: string): Record<string, string[]> {
    const own = this.#table.listFollowed(userId).map((followed) => [userId, followed] as const);
    const others = this.#table.list(MAX_PAIRS_SHOWN).filter(([follower]) => follower !== userId);
    const shown = new Map<string, string[]>();
    let bytes = 0;
    for (const [follower, followed] of [...own, ...others]) {
      bytes += byteLength(JSON.stringify({ [follower]: [followed] }));
      if (bytes > LIMITS.joinFollowsBytes) break;
      addTo(shown, follower, followed);
    }
    return Object.fromEntries(shown);
  }

  /** Following a user again changes nothing. BAD_REQUEST for following oneself, CONFLICT above the limit. */
  follow(follower: string, followed: string): void {
    if (follower === followed) throw new AppError("Rooms", "BAD_REQUEST", "A user cannot follow themselves");
    if (this.#table.has(follower, followed)) return;
    if (this.#table.listFollowed(follower).length >= LIMITS.followed)
      throw new AppError("Rooms", "CONFLICT", `A user can follow at most ${LIMITS.followed} others`);
    this.#table.insert(follower, followed);
    this.#changes.append("userFollowed", () => ({ userId: followed, followerId: follower }));
  }

  unfollow(follower: string, followed: string): void {
    if (!this.#table.has(follower, followed)) return;
    this.#table.delete(follower, followed);
    this.#changes.append("userUnfollowed", () => ({ userId: followed, followerId: follower }));
  }
}
