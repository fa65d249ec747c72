/** The mails about notifications that stay unread: written when they are sent, from what their reader may read then. */
import { openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import { jwtSecrets } from "../../platform/config.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import { layOut, type Mail } from "../mail/mail.ts";
import type { MailOutcome, NotificationMail, NotificationMails } from "../mail/outbox.ts";
import { MAILS_A_DAY, moveMail } from "../mail/statements.ts";
import type { MailContent } from "./inbox-ports.ts";
import { addressOf, type Told, tell, unreadCount } from "./tell.ts";
import { unsubscribeUrl } from "./unsubscribe.ts";

type Inbox = {
  readMail(
    identityId: string,
    sendingId: string,
    address: string,
    followsAddress: true,
  ): Promise<MailContent | null>;
  finishMail(identityId: string, sendingId: string, outcome: MailOutcome): Promise<void>;
};

const MAX_SHOWN = 20;

export function notificationMails(env: Env): NotificationMails {
  const inboxOf = ({ accountId, identityId }: NotificationMail) =>
    openInbox<Inbox>(env)(accountId, identityId);
  return {
    async write(mail, row, origin) {
      const inbox = inboxOf(mail);
      const content = await inbox.readMail(mail.identityId, mail.sendingId, row.recipient, true);
      if (content === null) return null;
      const { notifications, link, address = row.recipient } = content;
      const [{ organization, told }, unsubscribe] = await Promise.all([
        tell(env, mail, notifications.slice(0, MAX_SHOWN)),
        unsubscribeUrl(jwtSecrets(env), origin, mail),
      ]);
      if (address !== row.recipient) {
        const [moved] = await openDirectory(env).run([moveMail(row, address, MAILS_A_DAY.perRecipient)]);
        if (moved.length === 0) {
          await inbox.finishMail(mail.identityId, mail.sendingId, "limit");
          return null;
        }
      }
      const more = notifications.length - MAX_SHOWN;
      return { to: address, ...letterOf({ told, more, link, unsubscribe, organization }) };
    },
    finish: (mail, outcome) => inboxOf(mail).finishMail(mail.identityId, mail.sendingId, outcome),
  };
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
    const heading = roomName === null ? [] : [`In ${roomName}`];
    const url = addressOf(link, notification);
    return [...heading, ...lines, ...(url === null ? [] : [{ label: "Open", url }])];
  });
  const mail = layOut({
    subject: `${organization}: ${unreadCount(count)}`,
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
