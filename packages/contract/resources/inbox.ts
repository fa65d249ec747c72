/** Activities, as rooms and the organization deliver them to the inbox of an identity. */
import * as z from "zod";

/** An application's own kind: `$` and a name. */
export const OwnKind = z
  .string()
  .regex(/^\$[A-Za-z0-9_.-]{1,63}$/, "must be $ and a name of at most 63 letters, digits, _, . or -")
  .meta({ description: "Your own kind: `$` and a name.", example: "$invoice" });

/** `thread` and `textMention` are of rooms; a name that begins with `$` is the organization's own. */
export type InboxKind = "thread" | "textMention" | `$${string}`;

export const Kind = z
  .union([z.enum(["thread", "textMention"]), OwnKind])
  .meta({ description: "`thread`, `textMention`, or your own kind, which begins with `$`." });

/**
 * The shard of an identity's inbox: the first two digits of its ID, which is random. Fixed, because an inbox must stay in
 * its shard.
 */
export const inboxShardOf = (identityId: string): string => identityId.slice(0, 2);

/** All shards of an organization. */
export const INBOX_SHARDS: readonly string[] = Array.from({ length: 256 }, (_, shard) =>
  shard.toString(16).padStart(2, "0"),
);

export interface InboxActivity {
  /** The same activity has an effect once, and again at a higher `seq`: a comment is one, also when an edit mentions more people. */
  readonly id: string;
  readonly kind: InboxKind;
  /** Null for an application's notification without a room. */
  readonly roomId: string | null;
  /** One item has all activities of a room, a kind and a subject: a thread's ID, or the application's own. */
  readonly subjectId: string;
  /** Position in the order of the subject: the room's `seq`; null lets the inbox number it. */
  readonly seq: number | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The identity's ID, or the user's for a user without identity, and in the inboxes of guests. */
  readonly by: string | null;
  /** Up to 4 KiB as JSON. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Recipients mentioned by name or group. The same activity at a higher `seq` has no more effect for them. */
  readonly mentioned?: readonly string[];
}

/** A position in a subject: the activities up to the seq `upTo` are read. */
export interface InboxPosition {
  readonly roomId: string | null;
  readonly kind: InboxKind;
  readonly subjectId: string;
  readonly upTo: number;
}

/** A subject that was deleted, or some activities of it; without `subjectId` a room. Without `kind`, every kind of it. */
export interface InboxRemoval {
  readonly roomId: string;
  readonly kind?: InboxKind;
  readonly subjectId?: string;
  readonly activityIds?: readonly string[];
}
