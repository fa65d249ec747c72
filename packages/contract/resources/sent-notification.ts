/** Notifications that were sent by a channel beside the inbox, or why they were not. */
import * as z from "zod";
import { presentTime, Timestamp } from "../time.ts";
import type { IdentityRecord } from "./identity.ts";
import { type InboxKind, Kind } from "./inbox.ts";
import { CHANNELS, type Channel } from "./notification-settings.ts";

/** A notification as it was when it was to be sent. */
export interface SentItem {
  readonly id: string;
  readonly kind: InboxKind;
  /** Empty without a room. */
  readonly roomId: string;
  readonly subjectId: string;
  readonly seq: number;
}

export const NotificationReference = z.object({
  id: z.uuid().meta({ description: "The notification's ID." }),
  kind: Kind,
  room_id: z.string().nullable().meta({ description: "`null` for a kind of your own without a room." }),
  subject_id: z.string().meta({ description: "The subject: a thread's ID, or your own." }),
  seq: z.int().meta({ description: "The `seq` of its latest activity when it was to be sent." }),
});

export const presentReference = ({
  id,
  kind,
  roomId,
  subjectId,
  seq,
}: SentItem): z.infer<typeof NotificationReference> => ({
  id,
  kind,
  room_id: roomId === "" ? null : roomId,
  subject_id: subjectId,
  seq,
});

/** The content of the event for the organization's back end. */
export interface NotificationRecord {
  readonly identity: IdentityRecord;
  readonly channel: Channel;
  readonly items: readonly SentItem[];
}

/** Why notifications were not sent. */
const REASONS = [
  "read",
  "no_access",
  "unwanted",
  "online",
  "no_address",
  "unavailable",
  "limit",
  "failed",
  "unknown",
] as const;
export type Reason = (typeof REASONS)[number];

const OUTCOMES = ["waiting", "sent", ...REASONS] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Notifications that a channel has sent together, or is to send; or that it has not sent, for one reason. */
export interface Sending {
  readonly id: string;
  readonly channel: Channel;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly outcome: Outcome;
  readonly failures: number;
  readonly items: readonly SentItem[];
}

export const SentNotifications = z
  .object({
    id: z.uuid(),
    channel: z.enum(CHANNELS).meta({ description: "The channel." }),
    at: Timestamp.meta({
      description: "When it was decided; of an `unwanted` notification, when it arrived.",
    }),
    outcome: z.enum(OUTCOMES).meta({
      description:
        "`sent`, or not yet: `waiting` for an attempt. Or not at all: `read` or deleted meanwhile, `no_access` to the room any more, `unwanted` by the settings, `online` in the room, `no_address` for mails and no browser for pushes, `unavailable` because the service sends none, `limit` of mails in a day, `failed` for good. `unknown`: a mail may have been sent, or not.",
    }),
    notifications: z.array(NotificationReference).meta({ description: "What it is about, without texts." }),
  })
  .meta({
    id: "SentNotifications",
    example: {
      id: "6f0e4d5f-9d55-4c1b-8a3f-0d6f5f5a6e12",
      channel: "email",
      at: "2026-01-31T09:45:00.000Z",
      outcome: "sent",
      notifications: [
        {
          id: "0d6f5f5a-6f0e-4f5c-9d55-0c1b9a3f6e12",
          kind: "$invoice",
          room_id: null,
          subject_id: "invoice-7",
          seq: 1,
        },
      ],
    },
  });
export type SentNotifications = z.infer<typeof SentNotifications>;

export const presentSending = ({ id, channel, at, outcome, items }: Sending): SentNotifications => ({
  id,
  channel,
  at: presentTime(at),
  outcome,
  notifications: items.map(presentReference),
});
