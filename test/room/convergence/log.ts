/** Replays a room's changes: the content they lead to, and the request that made each of them. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import { expect } from "vitest";
import type { Change } from "../../../src/room/protocol/protocol.ts";

/** The one store that clients write to. */
export const STORE = "s";
/** An entry that is written only with `ifVersion`. */
export const COUNTER = "counter";
export const REACTION = "👍";

/** Values contain the id of the request that wrote them, as the texts of comments do. */
export interface Value {
  readonly mark: string;
  readonly count?: number;
}

export interface StoreChange {
  readonly store: string;
  readonly key: string;
  readonly action: "set" | "update" | "delete";
  readonly value: Value | null;
  readonly version: number;
  readonly by: string;
  readonly seq: number;
}

interface CommentChange {
  readonly comment: Comment;
  readonly by: string;
}

interface FollowChange {
  readonly userId: string;
  readonly followerId: string;
}

/** A change of a store; null for any other change. */
export const storeChangeOf = ({ event, data }: Change): StoreChange | null =>
  event === "storeChanged" ? (data as StoreChange) : null;

export const commentChangeOf = ({ event, data }: Change): CommentChange | null =>
  event === "commentCreated" || event === "commentUpdated" ? (data as CommentChange) : null;

export const followChangeOf = ({ event, data }: Change): FollowChange | null =>
  event === "userFollowed" || event === "userUnfollowed" ? (data as FollowChange) : null;

export class Replay {
  readonly entries = new Map<string, { readonly value: Value; readonly version: number }>();
  readonly comments = new Map<string, Comment>();
  /** Whom each user follows, earliest first. */
  readonly follows = new Map<string, string[]>();
  /** Changes that wrote a request's mark, by request id. */
  readonly made = new Map<string, Change[]>();
  /** False if the log lacks changes, because later ones superseded them before anyone received them. */
  readonly #isComplete: boolean;

  constructor(log: readonly Change[]) {
    this.#isComplete = log.length === (log.at(-1)?.seq ?? 0);
    for (const change of log) this.#apply(change);
  }

  #apply(change: Change): void {
    const [store, comment, follow] = [storeChangeOf(change), commentChangeOf(change), followChangeOf(change)];
    if (store !== null) this.#write(change, store);
    if (comment !== null) this.#keep(change, comment);
    if (follow !== null) this.#follow(change, follow);
  }

  #write(change: Change, { key, value, version }: StoreChange): void {
    if (value === null) {
      const existed = this.entries.delete(key);
      if (this.#isComplete) expect(existed, `${key} exists before it is deleted`).toBe(true);
    } else {
      this.entries.set(key, { value, version });
      this.#note(value.mark, change);
    }
  }

  /** A reaction does not change the text. */
  #keep(change: Change, { comment }: CommentChange): void {
    const before = this.comments.get(comment.id);
    expect(before === undefined).toBe(change.event === "commentCreated");
    this.comments.set(comment.id, comment);
    if (before?.text !== comment.text) this.#note(comment.text, change);
  }

  #follow({ event }: Change, { userId, followerId }: FollowChange): void {
    const followed = this.follows.get(followerId) ?? [];
    expect(followed.includes(userId)).toBe(event === "userUnfollowed");
    const others = followed.filter((id) => id !== userId);
    if (event === "userFollowed") this.follows.set(followerId, [...others, userId]);
    else if (others.length > 0) this.follows.set(followerId, others);
    else this.follows.delete(followerId);
  }

  #note(mark: string, change: Change): void {
    const made = this.made.get(mark);
    if (made === undefined) this.made.set(mark, [change]);
    else made.push(change);
  }
}

/** All that was received of a room's changes, in order. Two clients that received a change received the same. */
export function mergeLogs(logs: readonly (readonly Change[])[]): Change[] {
  const merged = new Map<number, Change>();
  for (const change of logs.flat()) {
    const known = merged.get(change.seq);
    if (known !== undefined) expect(change).toEqual(known);
    merged.set(change.seq, change);
  }
  return [...merged.values()].sort((a, b) => a.seq - b.seq);
}

/** The changes that a later one of the same entry supersedes. */
export function supersededIn(log: readonly Change[]): ReadonlySet<Change> {
  const latest = new Map<string, Change>();
  const superseded = new Set<Change>();
  for (const change of log) {
    const key = storeChangeOf(change)?.key;
    if (key === undefined) continue;
    const earlier = latest.get(key);
    if (earlier !== undefined) superseded.add(earlier);
    latest.set(key, change);
  }
  return superseded;
}

/** The ids of the requests that wrote a mark. */
export const makersOf = (log: readonly Change[]): ReadonlySet<string> => new Set(new Replay(log).made.keys());
