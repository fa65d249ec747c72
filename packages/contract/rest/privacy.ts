/** Personal data of users and identities on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { Comment } from "../resources/comment.ts";
import { Event, EventOfIdentity } from "../resources/events.ts";
import { StorageFile } from "../resources/file.ts";
import { Group, Identity } from "../resources/identity.ts";
import { NotificationSettings } from "../resources/notification-settings.ts";
import { PushSubscription } from "../resources/push-subscription.ts";
import { SentNotifications } from "../resources/sent-notification.ts";
import { Suggestion } from "../resources/suggestion.ts";
import { SubscriptionSettings } from "../resources/thread.ts";
import { User, UserSession } from "../resources/user.ts";
import { Timestamp } from "../time.ts";
import { AuditEntry } from "./audit.ts";
import { InboxNotification } from "./inbox.ts";
import { Code, MEMBER_ROLES } from "./people.ts";

const id = z.uuid();
const commentId = z.uuid();

export const PersonalRecord = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("user"), user: User }),
    z.object({ type: z.literal("session"), session: UserSession }),
    z.object({
      type: z.literal("follow"),
      user_id: z.string().meta({ description: "The user who is followed." }),
    }),
    z.object({ type: z.literal("comment"), comment: Comment }),
    z.object({ type: z.literal("mention"), comment_id: commentId }),
    z.object({
      type: z.literal("resolution"),
      comment_id: commentId.meta({ description: "A comment that the user has resolved." }),
    }),
    z.object({ type: z.literal("reaction"), comment_id: commentId, reaction: z.string() }),
    z.object({
      type: z.literal("thread"),
      thread_id: z.string(),
      read_seq: z.int().meta({ description: "The user has read the comments up to this `seq`." }),
      subscribed: z.boolean().nullable().meta({
        description: "Whether the user chose to be notified; null for what the settings say.",
      }),
    }),
    z.object({ type: z.literal("subscription_settings"), settings: SubscriptionSettings }),
    z.object({
      type: z.literal("document"),
      document: z.string().meta({ description: "The document's name." }),
      updates: z.int().meta({ description: "How many updates the user wrote, alone or with others." }),
      first_at: Timestamp,
      last_at: Timestamp,
    }),
    z.object({
      type: z.literal("suggestion"),
      suggestion: Suggestion.meta({ description: "A suggestion that the user has made or reviewed." }),
    }),
    z.object({
      type: z.literal("stream"),
      stream: z.string().meta({ description: "The stream's name." }),
      appends: z.int().meta({ description: "How many appends the user sent." }),
      bytes: z.int().meta({ description: "The bytes of these appends." }),
      first_at: Timestamp,
      last_at: Timestamp,
    }),
    z.object({ type: z.literal("file"), file: StorageFile }),
    z.object({ type: z.literal("event"), event: Event }),
  ])
  .meta({
    id: "PersonalRecord",
    description:
      "One record about a user: the user, a session, a follow, a comment, a mention, a reaction, what the user has read of a thread, its subscription settings, the user's text in a document or a stream (a long one in several parts), a suggestion, a file, or an event that names the user.",
  });
export type PersonalRecord = z.infer<typeof PersonalRecord>;

export const PersonalData = z
  .object({
    records: z.array(PersonalRecord).meta({ description: "May be empty on a page that others follow." }),
    cursor: z.string().nullable().meta({
      description: "Goes into `after` to read the page that follows; null on the last one.",
      example: "WyJzZXNzaW9ucyIsbnVsbF0",
    }),
  })
  .meta({ id: "PersonalData", example: { records: [], cursor: null } });
export type PersonalData = z.infer<typeof PersonalData>;

/** One thing that is kept of an identity. */
export const RecordOfIdentity = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("identity"), identity: Identity }),
    z.object({ type: z.literal("group"), group: Group }),
    z.object({
      type: z.literal("access"),
      room_id: id,
      permissions: z.array(z.string()).meta({ description: "The identity's own entry in the room." }),
    }),
    z.object({ type: z.literal("event"), event: EventOfIdentity }),
    z.object({ type: z.literal("inbox_notification"), notification: InboxNotification }),
    z.object({ type: z.literal("notification_settings"), settings: NotificationSettings }),
    z.object({ type: z.literal("sent_notifications"), sent: SentNotifications }),
    z.object({ type: z.literal("push_subscription"), subscription: PushSubscription }),
    z.object({
      type: z.literal("in_room"),
      room_id: id,
      user_id: id.meta({ description: "The identity's user in the room." }),
      record: PersonalRecord,
    }),
    z.object({
      type: z.literal("named_in_room"),
      room_id: id,
      record: PersonalRecord.meta({
        description: "A mention of the identity, or what it has read or chosen without a user in the room.",
      }),
    }),
  ])
  .meta({
    id: "RecordOfIdentity",
    description:
      "One record about an identity: the identity, a group that it is in, its access to a room, an event about it, a notification in its inbox, its settings for notifications, what was sent of them, a browser that it has subscribed, a record of its user in a room, or of the identity itself in any room.",
  });
export type RecordOfIdentity = z.infer<typeof RecordOfIdentity>;

export const IdentityData = z
  .object({
    records: z.array(RecordOfIdentity).meta(PersonalData.shape.records.meta() ?? {}),
    cursor: PersonalData.shape.cursor,
  })
  .meta({ id: "IdentityData", example: { records: [], cursor: null } });
export type IdentityData = z.infer<typeof IdentityData>;

/** A record about a person, without secrets: of passwords, passkeys, second factors and cookies, no more than their names and times. */
const PersonRecord = z.discriminatedUnion("type", [
  z.object({ type: z.literal("person"), id, name: z.string(), email: z.string(), created_at: Timestamp }),
  z.object({ type: z.literal("password"), created_at: Timestamp, updated_at: Timestamp }),
  z.object({ type: z.literal("provider"), issuer: z.string(), subject: z.string(), created_at: Timestamp }),
  z.object({
    type: z.literal("passkey"),
    name: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  }),
  z.object({
    type: z.literal("second_factor"),
    created_at: Timestamp,
    recovery_codes: z.int().meta({ description: "How many are left." }),
  }),
  z.object({
    type: z.literal("sign_in"),
    id,
    browser: z.string().nullable(),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
  }),
  z.object({
    type: z.literal("membership"),
    organization_id: id,
    organization: z.string(),
    role: z.enum(MEMBER_ROLES),
    joined_at: Timestamp,
  }),
  z.object({
    type: z.literal("invitation"),
    organization_id: id,
    id,
    email: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
  }),
  z.object({ type: z.literal("password_link"), created_at: Timestamp, expires_at: Timestamp }),
  z.object({
    type: z.literal("mail"),
    organization_id: id.nullable(),
    topic: z.string(),
    // The text is left out: its links may be secrets, and it is forgotten once it was sent.
    state: z.enum(["waiting", "done"]),
    created_at: Timestamp,
    expires_at: Timestamp,
  }),
  z.object({ type: z.literal("change"), organization_id: id, entry: AuditEntry }),
]);
export type PersonRecord = z.infer<typeof PersonRecord>;

export interface PersonExport {
  readonly records: readonly PersonRecord[];
  /** Value for `after` in the request for the next page; null at the end. */
  readonly cursor: string | null;
}

export const ExportRequest = z.strictObject({ after: z.string().max(1024).nullable() });

/** `password` is left out by a person who has none. */
export const PersonDeletion = z.strictObject({
  password: z.string().max(1024).optional(),
  code: Code.optional(),
});
export type PersonDeletion = z.infer<typeof PersonDeletion>;
