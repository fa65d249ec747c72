/** The channel of mails: one about all notifications of a sending, written from what their reader may read then. */

import type { Env } from "../../../env.ts";
import { jwtSecrets } from "../../../platform/config.ts";
import { openDirectory } from "../../../platform/d1/databases.ts";
import { TIMED_OUT } from "../../../platform/flow/concurrency.ts";
import { logError } from "../../../platform/log.ts";
import { takeFromLimits } from "../../mail/limits.ts";
import { layOut, type Mail } from "../../mail/mail.ts";
import { attemptMail, openMailer } from "../../mail/mailer.ts";
import type { InboxKey, Sender, SentInbox } from "../shard/sender.ts";
import { addressOf, type NotificationText, readTexts, unreadCount } from "./texts.ts";
import { unsubscribeUrl } from "./unsubscribe.ts";

const MAX_SHOWN = 20;
/** After so many attempts whose end is not known, the mail may have been sent twice. */
const MAX_UNCERTAIN = 2;

export function emailSender(env: Env, key: InboxKey, { now, notifications }: SentInbox): Sender {
  const service = openMailer(env);
  return {
    refusal: ({ email }) => (service === null ? "unavailable" : email === null ? "no_address" : null),
    send: async (attempt, { email, defaults }) => {
      if (service === null || email === null) return "unavailable";
      if (attempt.uncertain >= MAX_UNCERTAIN) return "unknown";
      if (!attempt.done.includes(email)) {
        if (!(await takeFromLimits(openDirectory(env), key.accountId, email, now()))) return "limit";
        attempt.note([email]);
      }
      const shown = notifications(attempt.items);
      const [{ organization, texts }, unsubscribe] = await Promise.all([
        readTexts(env, key, shown.slice(0, MAX_SHOWN)),
        unsubscribeUrl(jwtSecrets(env), service.origin, key),
      ]);
      const more = shown.length - MAX_SHOWN;
      const mail = letterOf({ texts, more, link: defaults.link, unsubscribe, organization });
      if (!attempt.begin()) return "waiting";
      if ((await attemptMail(service.mailer, email, mail)) !== TIMED_OUT) return "sent";
      logError("It is not known whether a mail was sent", { mail: attempt.id });
      return "waiting";
    },
  };
}

interface Letter {
  readonly texts: readonly NotificationText[];
  /** The number of notifications that are left out. */
  readonly more: number;
  /** With placeholders; null without a link. */
  readonly link: string | null;
  readonly unsubscribe: string;
  readonly organization: string;
}

function letterOf({ texts, more, link, unsubscribe, organization }: Letter): Mail {
  const count = texts.length + Math.max(0, more);
  const paragraphs = texts.flatMap((notification) => {
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
