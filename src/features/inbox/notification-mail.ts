/** The mails about notifications that stay unread: written when they are sent, from what their reader may read then. */
import { openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import { jwtSecrets } from "../../platform/config.ts";
import { openDirectory, openTenant } from "../../platform/d1/databases.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import type { Comment } from "../../wire/comment.ts";
import { layOut, type Mail, nameInMail } from "../mail/mail.ts";
import type { NotificationMail, NotificationMails } from "../mail/outbox.ts";
import { selectNames, selectUserNames } from "../mail/statements.ts";
import { selectRoomsById } from "../rooms/statements.ts";
import type { MailContent } from "./inbox-object.ts";
import type { InboxNotification } from "./schema.ts";
import { unsubscribeUrl } from "./unsubscribe.ts";

type Inbox = {
  readMail(sendingId: string, address: string): Promise<MailContent | null>;
  finishMail(sendingId: string, outcome: "sent" | "failed"): Promise<void>;
};

const MAX_SHOWN = 20;
const MAX_COMMENTS = 3;
const EXCERPT_LENGTH = 300;

/** A notification with what its reader sees of it. */
interface Told extends InboxNotification {
  readonly roomName: string | null;
  readonly lines: readonly string[];
}

export function notificationMails(env: Env): NotificationMails {
  const inboxOf = ({ accountId, identityId }: NotificationMail) =>
    openInbox<Inbox>(env)(accountId, identityId);
  return {
    async write(mail, address, origin) {
      const content = await inboxOf(mail).readMail(mail.sendingId, address);
      if (content === null) return null;
      const { notifications, link } = content;
      const [told, [[names]], unsubscribe] = await Promise.all([
        tell(env, mail.accountId, notifications.slice(0, MAX_SHOWN)),
        openDirectory(env).run([selectNames(mail)]),
        unsubscribeUrl(jwtSecrets(env), origin, mail),
      ]);
      const more = notifications.length - MAX_SHOWN;
      return letterOf({ told, more, link, unsubscribe, organization: nameInMail(names?.organization ?? "") });
    },
    finish: (mail, outcome) => inboxOf(mail).finishMail(mail.sendingId, outcome),
  };
}

/** Reads the rooms and comments of notifications. */
async function tell(
  env: Env,
  accountId: string,
  notifications: readonly InboxNotification[],
): Promise<Told[]> {
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
  const [rooms, users] = await tenant.db.run([
    selectRoomsById(tenant, [...idsByRoom.keys()]),
    selectUserNames(tenant, authors),
  ]);
  const [roomNames, userNames] = [rooms, users].map(
    (rows) => new Map(rows.map(({ id, name }) => [id, name])),
  );
  const lineOf = ({ user_id, text }: Comment) =>
    `${nameInMail(userNames?.get(user_id) ?? "A former user")}: ${nameInMail(text, EXCERPT_LENGTH)}`;
  return notifications.map((notification) => ({
    ...notification,
    roomName: roomNames?.get(notification.room_id ?? "") ?? null,
    lines: linesOf(notification, (id) => {
      const comment = comments.get(id);
      return comment && lineOf(comment);
    }),
  }));
}

/** The latest unread comments of a thread, oldest first. */
const unreadComments = ({ activities, read_seq }: Pick<InboxNotification, "activities" | "read_seq">) =>
  activities
    .filter(({ seq, data }) => seq > read_seq && typeof data.commentId === "string")
    .slice(0, MAX_COMMENTS)
    .map(({ data }) => String(data.commentId))
    .reverse();

async function readComments(env: Env, accountId: string, roomId: string, commentIds: readonly string[]) {
  if (commentIds.length === 0) return [];
  const request = { type: "COMMENTS_GET", data: { commentIds } } as const;
  const { comments } = (await roomGateway(env).request(roomId, accountId, request)) as {
    readonly comments: readonly Comment[];
  };
  return comments;
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

interface Letter {
  readonly told: readonly Told[];
  /** The number of notifications that are left out. */
  readonly more: number;
  /** With placeholders; null without a link. */
  readonly link: string | null;
  readonly unsubscribe: string;
  readonly organization: string;
}

function letterOf({ told, more, link, unsubscribe, organization }: Letter): Mail {
  const count = told.length + Math.max(0, more);
  const paragraphs = told.flatMap((notification) => {
    const { roomName, lines } = notification;
    const heading = roomName === null ? [] : [`In ${nameInMail(roomName)}`];
    const url = link === null ? [] : [{ label: "Open", url: addressOf(link, notification) }];
    return [...heading, ...lines, ...url];
  });
  const mail = layOut({
    subject: `${organization}: ${count === 1 ? "1 unread notification" : `${count} unread notifications`}`,
    paragraphs: [...paragraphs, ...(more > 0 ? [`And ${more} more.`] : [])],
    after: [
      `You receive this mail because you have not read these notifications of ${organization}. To receive no such mails: ${unsubscribe}`,
    ],
  });
  return {
    ...mail,
    headers: {
      "List-Unsubscribe": `<${unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  };
}

/** The address of the application's page for a notification. */
const addressOf = (link: string, { room_id, kind, subject_id }: InboxNotification): string =>
  link
    .replaceAll("{roomId}", encodeURIComponent(room_id ?? ""))
    .replaceAll("{kind}", encodeURIComponent(kind))
    .replaceAll("{subjectId}", encodeURIComponent(subject_id));
