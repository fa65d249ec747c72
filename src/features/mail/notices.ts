/** Mails to the owners of an organization about a webhook or workflow that needs them. */
import type { Env } from "../../env.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import { layOut, type Mail, nameInMail } from "./mail.ts";
import { type MailOutbox, mailOutbox } from "./outbox.ts";
import { insertMail, ownersWhoWantNotices, selectNames } from "./statements.ts";

/** For so long a mail may wait until it can be sent, in milliseconds. */
const LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface Notice {
  /** The same each time that the same is reported. */
  readonly id: string;
  /** At most one mail in 24 hours is about a topic. */
  readonly topic: string;
  /** Further topics that make this mail unnecessary, if one was sent about them in the last 24 hours. */
  readonly coveredBy?: readonly string[];
  readonly subject: string;
  /** The event, and the next step. */
  readonly paragraphs: readonly string[];
  /** The page of the organization in the dashboard, such as `/webhooks/…`. */
  readonly page: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Stores a mail for each owner who wants notices, once for its `id`, unless mail is off. Rejects when the database fails. */
export async function notifyOwners(
  env: Env,
  accountId: string,
  notice: Notice,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const outbox = openOutbox(env, log);
  if (outbox === null) return;
  const { id, topic, coveredBy = [], now } = notice;
  const directory = openDirectory(env);
  const [[names]] = await directory.run([selectNames({ accountId })]);
  const facts = { id, accountId, topic, createdAt: now, expiresAt: now + LIFETIME_MS };
  const dashboard = `${outbox.origin}/dashboard/${accountId}`;
  const mail = await outbox.seal(facts, noticeMail(notice, nameInMail(names?.organization ?? ""), dashboard));
  await directory.run([insertMail(mail, ownersWhoWantNotices(mail, [topic, ...coveredBy]))]);
}

const noticeMail = ({ subject, paragraphs, page }: Notice, organization: string, dashboard: string): Mail =>
  layOut({
    subject: `${organization}: ${subject}`,
    paragraphs,
    link: { label: "Open it in the dashboard", url: dashboard + page },
    after: [
      `You receive this mail as an owner of ${organization}. To receive no such mails, open Settings, Profile: ${dashboard}/settings/profile`,
    ],
  });

function openOutbox(env: Env, log: (message: string, error: unknown) => void): MailOutbox | null {
  try {
    return mailOutbox(env);
  } catch (error) {
    log("The owners of an organization could not be notified by mail", error);
    return null;
  }
}
