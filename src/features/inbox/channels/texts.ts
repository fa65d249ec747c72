/** The texts of notifications in mails and pushes, as far as their reader may see them. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import type { Env } from "../../../env.ts";
import { openDirectory, openTenant } from "../../../platform/d1/databases.ts";
import { roomGateway } from "../../../room/host/gateway.ts";
import { nameInMail } from "../../mail/mail.ts";
import { selectNames } from "../../mail/statements.ts";
import { selectRoomsById } from "../../rooms/statements.ts";
import { selectOwn, selectUserNames } from "../recipients/store.ts";
import type { InboxKey } from "../shard/sender.ts";

const MAX_COMMENTS = 3;
const EXCERPT_LENGTH = 300;

/** A notification with what its reader sees of it. */
export interface NotificationText extends InboxNotification {
  readonly roomName: string | null;
  readonly lines: readonly string[];
}

/** Reads the names, rooms and comments. Callers have checked that the reader may see the notifications. */
export async function readTexts(
  env: Env,
  { accountId, identityId }: InboxKey,
  notifications: readonly InboxNotification[],
): Promise<{ readonly organization: string; readonly texts: readonly NotificationText[] }> {
  const tenant = openTenant(env, accountId);
  const idsByRoom = new Map<string, string[]>();
  for (const { room_id: roomId, ...notification } of notifications)
    if (roomId !== null)
      idsByRoom.set(roomId, [...(idsByRoom.get(roomId) ?? []), ...unreadComments(notification)]);
  const read = await Promise.all(
    [...idsByRoom].map(([roomId, commentIds]) => readComments(env, accountId, roomId, commentIds)),
  );
  const comments = new Map(read.flat().map((comment) => [comment.id, comment]));
  const authors = [...comments.values()].map(({ user_id }) => user_id);
  const [[rooms, users, own], [[names]]] = await Promise.all([
    tenant.db.run([
      selectRoomsById(tenant, [...idsByRoom.keys()]),
      selectUserNames(tenant, authors),
      selectOwn(tenant, identityId, [...comments.values()].flatMap(mentionedIn)),
    ]),
    openDirectory(env).run([selectNames({ accountId })]),
  ]);
  const [roomNames, userNames] = [rooms, users].map(
    (rows) => new Map(rows.map(({ id, name }) => [id, nameInMail(name)])),
  );
  const readers = new Set([identityId, ...own.map(({ id }) => id)]);
  const lineOf = (comment: Comment) => {
    const author = userNames?.get(comment.user_id) ?? "A former user";
    const isMention = mentionedIn(comment).some((id) => readers.has(id));
    return `${author}${isMention ? " mentioned you" : ""}: ${nameInMail(comment.text, EXCERPT_LENGTH)}`;
  };
  const texts = notifications.map((notification) => ({
    ...notification,
    roomName: roomNames?.get(notification.room_id ?? "") ?? null,
    lines: linesOf(notification, (id) => {
      const comment = comments.get(id);
      return comment && lineOf(comment);
    }),
  }));
  return { organization: nameInMail(names?.organization ?? ""), texts };
}

const mentionedIn = ({ mentions, mentioned = [] }: Comment): readonly string[] => [
  ...mentions,
  ...mentioned.map(({ id }) => id),
];

/** The latest unread comments of a thread, oldest first. */
const unreadComments = ({ activities, read_seq }: Pick<InboxNotification, "activities" | "read_seq">) =>
  activities
    .filter(({ seq, data }) => seq > read_seq && typeof data.commentId === "string")
    .slice(0, MAX_COMMENTS)
    .map(({ data }) => String(data.commentId))
    .reverse();

async function readComments(env: Env, accountId: string, roomId: string, commentIds: readonly string[]) {
  if (commentIds.length === 0) return [];
  return (await roomGateway(env).call(roomId, accountId, "COMMENTS_GET", { commentIds })).comments;
}

function linesOf(
  notification: InboxNotification,
  lineOf: (commentId: string) => string | undefined,
): readonly string[] {
  const { kind, subject_id, activities } = notification;
  if (kind === "textMention") return ["You were mentioned in a text."];
  if (kind === "thread") {
    const lines = unreadComments(notification).flatMap((id) => lineOf(id) ?? []);
    return lines.length > 0 ? lines : ["There are new comments in a thread."];
  }
  const title = activities[0]?.data.title;
  return [nameInMail(typeof title === "string" ? title : `${kind.slice(1)}: ${subject_id}`, EXCERPT_LENGTH)];
}

/** The address of the application's page for a notification; null without one, as a page of a room for one without a room. */
export function addressOf(
  link: string | null,
  { room_id, kind, subject_id }: InboxNotification,
): string | null {
  if (link === null || (room_id === null && link.includes("{roomId}"))) return null;
  return link
    .replaceAll("{roomId}", encodeURIComponent(room_id ?? ""))
    .replaceAll("{kind}", encodeURIComponent(kind))
    .replaceAll("{subjectId}", encodeURIComponent(subject_id));
}

export const unreadCount = (count: number): string =>
  count === 1 ? "1 unread notification" : `${count} unread notifications`;
