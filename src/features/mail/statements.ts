/** The only SQL about mails. */

import { DAY_MS, HOUR_MS } from "@atrium/contract/time.ts";
import { and, eq, type SQL, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { type MailRow, mailCounts, mails } from "./table.ts";

/** A mail to store, for one or several recipients. */
export type NewMail = Pick<
  MailRow,
  "id" | "accountId" | "topic" | "keyId" | "sealed" | "createdAt" | "expiresAt"
>;

/** Stores a mail for each row of `to`, a query of recipients, once for its `id`. Returns who has it. */
export const insertMail = (mail: NewMail, to: SQL): Statement<{ recipient: string }> =>
  statement`INSERT INTO mails (id, recipient, account_id, topic, key_id, sealed, created_at, expires_at, due_at)
      SELECT ${mail.id}, recipient, ${mail.accountId}, ${mail.topic}, ${mail.keyId}, ${mail.sealed},
        ${mail.createdAt},
        ${mail.expiresAt}, CASE WHEN recipient <> '' THEN ${mail.createdAt} END FROM (${to}) WHERE TRUE
      ON CONFLICT DO NOTHING RETURNING recipient`;

/** The person with this address. Without one it is a row as well, so that the time of an answer reveals nothing. */
export const personWithAddress = (email: string): SQL =>
  sql`SELECT coalesce((SELECT email FROM people WHERE email = ${email}), '') AS recipient`;

/** This address, unless the organization has sent so many mails about the topic since yesterday. */
export const addressWithin = (
  email: string,
  { accountId, topic, createdAt }: NewMail,
  { total, perRecipient }: { readonly total: number; readonly perRecipient: number },
): SQL => {
  const recent = sql`SELECT count(*) FROM mails
      WHERE account_id = ${accountId} AND topic = ${topic} AND created_at > ${createdAt - DAY_MS}`;
  return sql`SELECT ${email} AS recipient
      WHERE (${recent}) < ${total} AND (${recent} AND recipient = ${email}) < ${perRecipient}`;
};

/** The owners who want notices, unless another mail about one of these topics was stored since yesterday. */
export const ownersWhoWantNotices = (
  { id, accountId, createdAt }: NewMail,
  unlessRecent: readonly string[],
): SQL =>
  sql`SELECT people.email AS recipient FROM memberships JOIN people ON people.id = memberships.person_id
      WHERE memberships.account_id = ${accountId} AND memberships.role = 'owner' AND memberships.notices = 1
        AND NOT EXISTS (
          SELECT 1 FROM mails WHERE account_id = ${accountId} AND topic IN ${unlessRecent}
            AND created_at > ${createdAt - DAY_MS} AND id <> ${id})`;

/** The organization's name, and that of one of its people. */
export const selectNames = (
  { accountId }: Pick<Tenant, "accountId">,
  personId: string | null = null,
): Statement<{
  organization: string;
  person: string | null;
}> => statement`SELECT accounts.name AS organization, people.name AS person
    FROM accounts LEFT JOIN people ON people.id = ${personId} WHERE accounts.id = ${accountId}`;

/** Claims due mails for an attempt. One whose end is never recorded is due again at `retryAt` (epoch ms). */
export const claimDueMails = (now: number, retryAt: number, limit: number): Statement<MailRow> =>
  statement(
    build
      .update(mails)
      .set({
        uncertain: sql`${mails.uncertain} + 1`,
        dueAt: retryAt,
      })
      .where(
        sql`rowid IN (SELECT rowid FROM mails WHERE due_at <= ${now} AND expires_at > ${now}
            ORDER BY due_at LIMIT ${limit})`,
      )
      .returning(columnsOf(mails)),
  );

const isMail = ({ id, recipient }: Pick<MailRow, "id" | "recipient">) =>
  and(eq(mails.id, id), eq(mails.recipient, recipient));

/** The mail is done: its content is deleted. */
export const finishMail = (mail: Pick<MailRow, "id" | "recipient">): Statement =>
  statement(build.update(mails).set({ dueAt: null, sealed: "" }).where(isMail(mail)));

/** An attempt has failed: the mail was not sent. It is due again at `dueAt` (epoch ms). */
export const retryMail = (mail: Pick<MailRow, "id" | "recipient">, dueAt: number): Statement =>
  statement(
    build
      .update(mails)
      .set({
        dueAt,
        uncertain: sql`max(0, ${mails.uncertain} - 1)`,
        failures: sql`${mails.failures} + 1`,
      })
      .where(isMail(mail)),
  );

export const deleteMailsOf = ({ accountId }: Pick<Tenant, "accountId">): Statement =>
  statement(build.delete(mails).where(eq(mails.accountId, accountId)));

export const MAILS: Expiring = { table: mails, column: mails.expiresAt };

/** A mail to count. `recipient` is a hash of its address, `now` in epoch ms. */
interface CountedMail {
  readonly accountId: string;
  readonly recipient: string;
  readonly now: number;
  /** The most mails in {@link COUNTED_MS}. */
  readonly total: number;
  readonly perRecipient: number;
}

/** Mails count by the hour in which they begin: for 24 hours, and the rest of that hour. */
export const COUNTED_MS = DAY_MS + HOUR_MS;

/** Counts a mail about notifications. No row if the organization has sent too many, in all or to this recipient. */
export const countMail = ({
  accountId,
  recipient,
  now,
  total,
  perRecipient,
}: CountedMail): Statement<{ recipient: string }> => {
  const sent = sql`SELECT ifnull(sum(count), 0) FROM mail_counts
      WHERE account_id = ${accountId} AND hour > ${now - COUNTED_MS}`;
  return statement`INSERT INTO mail_counts (account_id, recipient, hour, count)
      SELECT ${accountId}, value, ${now - (now % HOUR_MS)}, 1 FROM json_each(${JSON.stringify(["", recipient])})
      WHERE (${sent} AND recipient = '') < ${total} AND (${sent} AND recipient = ${recipient}) < ${perRecipient}
      ON CONFLICT (account_id, recipient, hour) DO UPDATE SET count = count + 1 RETURNING recipient`;
};

export const deleteMailCounts = ({ accountId }: Pick<Tenant, "accountId">): Statement =>
  statement(build.delete(mailCounts).where(eq(mailCounts.accountId, accountId)));

export const MAIL_COUNTS: Expiring = { table: mailCounts, column: mailCounts.hour };
