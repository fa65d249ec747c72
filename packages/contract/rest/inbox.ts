/** The inbox on the wire: its notifications, and the bodies of requests about them. The SDK imports these types. */

import * as z from "zod";
import { JsonObject } from "../operations/values.ts";
import { Kind, OwnKind } from "../resources/inbox.ts";
import { byteLength, CustomId, text } from "../text.ts";
import { Timestamp } from "../time.ts";

const Seq = z.int().min(0);

const Activity = z.object({
  id: z.string().meta({ description: "The ID of the activity; of a comment, the comment's." }),
  seq: Seq.meta({ description: "Its place in the order of the subject." }),
  at: Timestamp,
  created_by: z.string().nullable().meta({
    description:
      "The ID of the identity, or of a user without one; `null` for your back end. In the inbox of a guest, the ID of the user.",
  }),
  data: z.record(z.string(), z.unknown()).meta({
    description: "`commentId` of a thread's activity, or what your back end sent with its own kind.",
  }),
});

export const InboxNotification = z
  .object({
    id: z.uuid(),
    kind: Kind,
    room_id: z.string().nullable().meta({ description: "`null` for a kind of your own without a room." }),
    subject_id: z.string().meta({ description: "The subject: a thread's ID, or your own." }),
    thread_id: z.string().optional().meta({ description: "Of the kind `thread` only." }),
    activities: z.array(Activity).meta({ description: "The latest 50, newest first." }),
    seq: Seq.meta({ description: "The `seq` of the latest activity." }),
    read_seq: Seq.meta({ description: "The activities up to this `seq` are read." }),
    unread: z.boolean().meta({ description: "Whether `seq` is above `read_seq`." }),
    notified_at: Timestamp.meta({ description: "When the latest activity took place." }),
    read_at: Timestamp.nullable().meta({ description: "When some of it was last read; `null` before." }),
  })
  .meta({
    id: "InboxNotification",
    example: {
      id: "0d6f5f5a-6f0e-4f5c-9d55-0c1b9a3f6e12",
      kind: "$invoice",
      room_id: null,
      subject_id: "invoice-7",
      activities: [
        {
          id: "5a3f8f0e-91d4-4a0e-8a52-63d1c7b9f025",
          seq: 1,
          at: "2026-01-31T09:30:00.000Z",
          created_by: null,
          data: { amount: 12 },
        },
      ],
      seq: 1,
      read_seq: 0,
      unread: true,
      notified_at: "2026-01-31T09:30:00.000Z",
      read_at: null,
    },
  });
export type InboxNotification = z.infer<typeof InboxNotification>;

const isOneOf = (...values: readonly unknown[]): boolean =>
  values.filter((value) => value !== undefined).length === 1;

export const InboxRead = z
  .strictObject({
    notificationId: text(1, 255).optional().meta({ description: "The notification to mark." }),
    upTo: Seq.optional().meta({
      description:
        "Read up to this `seq`; later activities stay unread. Absent: up to the latest one at the time of the request.",
    }),
    all: z.literal(true).optional().meta({
      description: "All notifications as they are at the time of the request.",
    }),
  })
  .refine(({ notificationId, all }) => isOneOf(notificationId, all), "send either notificationId or all")
  .refine(({ upTo, all }) => upTo === undefined || all === undefined, "upTo: belongs to a notificationId")
  .meta({ id: "InboxRead", example: { all: true } });
export type InboxRead = z.infer<typeof InboxRead>;

const MAX_DATA_BYTES = 4 * 1024;

export const InboxTrigger = z
  .strictObject({
    identityId: text(1, 255).optional().meta({ description: "The identity to notify." }),
    customId: CustomId.optional().meta({
      description: "Your own identifier of the identity, instead of `identityId`.",
    }),
    kind: OwnKind,
    subjectId: text(1, 255).meta({
      description: "What it is about: one notification has all activities of a subject.",
    }),
    roomId: text(1, 255).optional().meta({
      description: "Shown only while the identity may enter this room.",
    }),
    data: JsonObject.refine(
      (data) => byteLength(JSON.stringify(data)) <= MAX_DATA_BYTES,
      `must have at most ${MAX_DATA_BYTES} bytes`,
    )
      .optional()
      .meta({
        description: "What your page shows of it, at most 4 KiB.",
        override: { type: "object" },
      }),
  })
  .refine(({ identityId, customId }) => isOneOf(identityId, customId), "send either identityId or customId")
  .meta({
    id: "InboxTrigger",
    example: {
      identityId: "7b0f2f64-8d3a-4f0d-9a55-0c1b9a3f6e11",
      kind: "$invoice",
      subjectId: "invoice-7",
      data: { amount: 12 },
    },
  });
export type InboxTrigger = z.infer<typeof InboxTrigger>;
export type InboxTriggerInput = z.input<typeof InboxTrigger>;
