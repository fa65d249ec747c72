/** Threads of comments on the wire, with the state of one of their readers. */
import * as z from "zod";
import { Timestamp } from "../time.ts";
import type { IdentityKind } from "./identity.ts";

/** Fields of comments and threads that were resolved. */
export const ofResolved = {
  resolved_at: Timestamp.optional().meta({
    description: "When it was resolved last, also if it is open again; absent if it never was.",
  }),
  resolved_by: z.string().nullable().optional().meta({
    description: "The user who has resolved it; null for your back end, and once the user is erased.",
  }),
};

/** Fields of a thread for one reader: a user of the room, or an identity. */
const ofReader = {
  subscribed: z.boolean().optional().meta({
    description:
      "Whether the reader is notified of new comments. Only in answers to one reader, as the next two.",
  }),
  read_seq: z.int().optional().meta({ description: "The reader has read the comments up to this `seq`." }),
  unread_count: z.int().optional().meta({ description: "The comments after it." }),
};

export const Thread = z
  .object({
    id: z.string().meta({ description: "The ID of the comment that started it." }),
    room_id: z.uuid(),
    resolved: z.boolean().meta({ description: "As its first comment is." }),
    ...ofResolved,
    comment_count: z.int().meta({ description: "The comments in it." }),
    last_seq: z.int().meta({ description: "The `seq` of the room's change that wrote its latest comment." }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({ description: "When its latest comment was written." }),
    ...ofReader,
  })
  .meta({
    id: "Thread",
    example: {
      id: "0d4f3f6e-8a52-4d0c-9f7e-1b2c3d4e5f60",
      room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
      resolved: false,
      comment_count: 3,
      last_seq: 41,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:42:00.000Z",
      subscribed: true,
      read_seq: 38,
      unread_count: 1,
    },
  });
export type Thread = z.infer<typeof Thread>;

/** Someone who wrote in a thread, or was mentioned there. */
export const ThreadParticipant = z
  .object({
    user_id: z.string().nullable().meta({ description: "Null for an identity that was only mentioned." }),
    identity_id: z.string().nullable().meta({ description: "Null for a user without an identity." }),
  })
  .meta({
    id: "ThreadParticipant",
    example: {
      user_id: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21",
      identity_id: "5b0e7a34-9c1d-4f28-8e6a-7d2c9f103b55",
    },
  });
export type ThreadParticipant = z.infer<typeof ThreadParticipant>;

/** The comments of which a reader is notified, in one room. */
export const SubscriptionSettings = z
  .object({
    threads: z.enum(["all", "replies_and_mentions", "none"]).meta({
      description: "`replies_and_mentions`: of the threads in which the reader writes or is mentioned.",
    }),
    textMentions: z.enum(["mine", "none"]).meta({
      description: "`mine`: of the mentions of the reader in documents; `none`: of none.",
    }),
  })
  .meta({ id: "SubscriptionSettings", example: { threads: "replies_and_mentions", textMentions: "mine" } });
export type SubscriptionSettings = z.infer<typeof SubscriptionSettings>;

export const DEFAULT_SETTINGS: SubscriptionSettings = {
  threads: "replies_and_mentions",
  textMentions: "mine",
};

/** A mentioned identity, or all identities of a group. */
export const Mention = z
  .object({
    kind: z.enum(["user", "group"]).meta({ description: "An identity, or all identities of a group." }),
    id: z.string(),
  })
  .meta({ id: "Mention", example: { kind: "user", id: "5b0e7a34-9c1d-4f28-8e6a-7d2c9f103b55" } });
export type Mention = z.infer<typeof Mention>;

/** A participant of a room as its threads know it. `subject` is its identity, or the user itself without one. */
export interface Reader {
  readonly subject: string;
  /** Null for an identity that is not known as a user of the room. */
  readonly userId: string | null;
}

/** A user who writes. */
export type Author = Reader & { readonly userId: string };

/** An agent that a comment mentions, itself or by a group, and that may read the room. */
export interface MentionedAgent {
  readonly identityId: string;
  /** The ID of the user, identity or group by which the comment mentions it. */
  readonly mention: string;
}

/** The author of a comment, as the database has it. */
export interface CommentAuthor {
  readonly identityId: string | null;
  readonly kind: IdentityKind;
}

/** The people whom a comment concerns, as the database has them when it is written. */
export interface MentionRecipients {
  /** The mentioned who may read the room. */
  readonly readers: readonly Reader[];
  /** The mentioned who exist, and may not read the room. */
  readonly others?: readonly Reader[];
  /** The IDs of mentioned groups. */
  readonly groups: readonly string[];
  /** Number of members of each group. */
  readonly groupSizes?: Readonly<Record<string, number>>;
  /** True if the author is a guest. */
  readonly byGuest?: boolean;
  /** Absent from callers of the version before, as the next one. */
  readonly agents?: readonly MentionedAgent[];
  /** Absent for a comment whose author is gone. */
  readonly author?: CommentAuthor;
  /** The IDs of mentioned users, identities and groups that do not exist or may not read the room. */
  readonly unnotified: readonly string[];
}

/** The mentioned people to notify, and the counts for the quota of notifications. */
export type Mentioned = Pick<MentionRecipients, "readers" | "groups" | "groupSizes" | "byGuest">;
