/** The items of inboxes as they are stored, and presented. */

import type { InboxActivity, InboxKind } from "@atrium/contract/resources/inbox.ts";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";

/** An item that has changed; `roomId` is empty without a room. */
export interface ChangedItem {
  readonly id: string;
  readonly roomId: string;
}

/** Items that have changed; those of `notified` have a further activity, and those of `updated` have lost some. With `recounted`, others may be shown. */
export interface InboxChange {
  readonly type: "notified" | "updated" | "recounted" | "read" | "deleted";
  readonly items: readonly ChangedItem[];
}

export interface InboxItem extends ChangedItem {
  readonly number: number;
  readonly kind: InboxKind;
  readonly subjectId: string;
  readonly seq: number;
  readonly readSeq: number;
  readonly deletedSeq: number;
  readonly notifiedAt: number;
  readonly readAt: number | null;
}

/** An activity as its item has it. */
export interface StoredActivity extends Pick<InboxActivity, "id" | "at" | "by"> {
  readonly seq: number;
  /** As JSON: its nesting may be deeper than SQLite reads. */
  readonly data: string;
  /** Whether the identity is mentioned by name or group. */
  readonly isMention: boolean;
}

const presentActivity = ({
  id,
  seq,
  at,
  by,
  data,
}: StoredActivity): InboxNotification["activities"][number] => ({
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
