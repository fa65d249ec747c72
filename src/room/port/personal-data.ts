/** What a room's object keeps of one of its users, as it is exported. */
import type { StoredSession } from "../../wire/snapshots.ts";

/** The parts of a room that know its users, in the order in which they are read. */
export const PERSONAL_PARTS = ["sessions", "follows", "comments", "documents"] as const;
export type PersonalPart = (typeof PERSONAL_PARTS)[number];

/** Times are epoch milliseconds. */
export type RoomRecordOfUser =
  | { readonly type: "session"; readonly session: StoredSession }
  /** The user follows this one. */
  | { readonly type: "follow"; readonly followedId: string }
  /** As JSON. */
  | { readonly type: "comment"; readonly comment: string }
  /** The user reacted to a comment, their own or another's. */
  | { readonly type: "reaction"; readonly commentId: string; readonly reaction: string }
  /** The user is mentioned in a comment. */
  | { readonly type: "mention"; readonly commentId: string }
  /** The user wrote at least some of these updates. */
  | {
      readonly type: "document";
      readonly name: string;
      readonly updates: number;
      readonly firstAt: number;
      readonly at: number;
    };

/** Some of the records of a part. */
export interface RecordsOfUser {
  readonly records: readonly RoomRecordOfUser[];
  /** Where the part goes on; null at its end. */
  readonly next: string | null;
}
