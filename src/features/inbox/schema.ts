/** The inbox on the wire: its notifications, and the bodies of requests about them. The SDK imports these types. */
import * as z from "zod";
import { presentNullableTime, presentTime, Timestamp } from "../../platform/time.ts";
import type { InboxItem, StoredActivity } from "./inbox-store.ts";

const Seq = z.int().min(0);

/** An application's own kind: `$` and a name. */
const OwnKind = z
  .string()
  .regex(/^\$[A-Za-z0-9_.-]{1,63}$/, "must be $ and a name of at most 63 letters, digits, _, . or -")
  .meta({ description: "Your own kind: `$` and a name.", example: "$invoice" });

const Kind = z
  .union([z.enum(["thread", "textMention"]), OwnKind])
  .meta({ description: "`thread`, `textMention`, or your own kind, which begins with `$`." });

const Activity = z.object({
  id: z.string().meta({ description: "The ID of the event." }),
  seq: Seq.meta({ description: "Its place in the order of the subject." }),
  at: Timestamp,
  created_by: z.string().nullable().meta({
    description: "The ID of the identity, or of a user without one; `null` for your back end.",
  }),
  data: z.record(z.string(), z.unknown()).meta({
    description: "`commentId` of a thread's activity, or what your back end sent with its own kind.",
  }),
});
type Activity = z.infer<typeof Activity>;

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
    unread: z.boolean(),
    notified_at: Timestamp,
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

const presentActivity = ({ id, seq, at, by, data }: StoredActivity): Activity => ({
  id,
  seq,
  at: presentTime(at),
  created_by: by,
  data: JSON.parse(data),
});

export const presentNotification = (
  item: InboxItem,
  activities: readonly StoredActivity[],
): InboxNotification => ({
  id: item.id,
  kind: item.kind,
  room_id: item.roomId === "" ? null : item.roomId,
  subject_id: item.subjectId,
  ...(item.kind === "thread" ? { thread_id: item.subjectId } : {}),
  activities: activities.map(presentActivity),
  seq: item.seq,
  read_seq: Math.min(item.readSeq, item.seq),
  unread: item.seq > item.readSeq,
  notified_at: presentTime(item.notifiedAt),
  read_at: presentNullableTime(item.readAt),
});
