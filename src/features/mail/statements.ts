/** The only SQL about mails. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { DAY_MS } from "../../platform/time.ts";
import { type MailRow, mails } from "./table.ts";

/** A mail to store, for one or several recipients. */
export type NewMail = Pick<
  MailRow,
  "id" | "accountId" | "topic" | "keyId" | "sealed" | "createdAt" | "expiresAt"
>;

/** The topic of mails that are written when they are sent. */
export const NOTIFICATIONS = "notifications";

/** Mails about notifications of one organization in 24 hours, and those to one address. */
export const MAILS_A_DAY = { total: 10_000, perRecipient: 100 };

/** A query whose rows are recipients. */
type Recipients = Pick<Statement, "sql" | "params">;

/** Stores a mail for each of the recipients, once for its `id`. Returns who has it. */
export const insertMail = (mail: NewMail, to: Recipients): Statement<{ recipient: string }> => ({
  sql: `INSERT INTO mails (id, recipient, account_id, topic, key_id, sealed, created_at, expires_at, due_at)
        SELECT ?, recipient, ?, ?, ?, ?, ?, ?, CASE WHEN recipient <> '' THEN ? END FROM (${to.sql}) WHERE TRUE
        ON CONFLICT DO NOTHING RETURNING recipient`,
  params: [
    ...[mail.id, mail.accountId, mail.topic, mail.keyId, mail.sealed],
    ...[mail.createdAt, mail.expiresAt, mail.createdAt, ...to.params],
  ],
});

/** Whether a mail was stored, also when it is done. */
export const selectMail = (id: string): Statement<{ id: string }> => ({
  sql: "SELECT id FROM mails WHERE id = ? LIMIT 1",
  params: [id],
});

/** The person with this address. Without one it is a row as well, so that the time of an answer reveals nothing. */
export const personWithAddress = (email: string): Recipients => ({
  sql: "SELECT coalesce((SELECT email FROM people WHERE email = ?), '') AS recipient",
  params: [email],
});

/** This address, unless the organization has sent so many mails about the topic since yesterday. */
export const addressWithin = (
  email: string,
  { accountId, topic, createdAt }: NewMail,
  { total, perRecipient }: { readonly total: number; readonly perRecipient: number },
): Recipients => {
  const recent = "SELECT count(*) FROM mails WHERE account_id = ? AND topic = ? AND created_at > ?";
  const params = [accountId, topic, createdAt - DAY_MS];
  return {
    sql: `SELECT ? AS recipient WHERE (${recent}) < ? AND (${recent} AND recipient = ?) < ?`,
    params: [email, ...params, total, ...params, email, perRecipient],
  };
};

/** The owners who want notices, unless another mail about one of these topics was stored since yesterday. */
export const ownersWhoWantNotices = (
  { id, accountId, createdAt }: NewMail,
  unlessRecent: readonly string[],
): Recipients => ({
  sql: `SELECT people.email AS recipient FROM memberships JOIN people ON people.id = memberships.person_id
        WHERE memberships.account_id = ? AND memberships.role = 'owner' AND memberships.notices = 1
          AND NOT EXISTS (
            SELECT 1 FROM mails WHERE account_id = ? AND topic IN (${unlessRecent.map(() => "?").join()})
              AND created_at > ? AND id <> ?)`,
  params: [accountId, accountId, ...unlessRecent, createdAt - DAY_MS, id],
});

/** The organization's name, and that of one of its people. */
export const selectNames = (
  { accountId }: Pick<Tenant, "accountId">,
  personId: string | null = null,
): Statement<{ organization: string; person: string | null }> => ({
  sql: `SELECT accounts.name AS organization, people.name AS person
        FROM accounts LEFT JOIN people ON people.id = ? WHERE accounts.id = ?`,
  params: [personId, accountId],
});

/** The names of users in any room of the organization. */
export const selectUserNames = (
  { accountId }: Pick<Tenant, "accountId">,
  ids: readonly string[],
): Statement<{ id: string; name: string }> => ({
  sql: `SELECT users.id, users.name FROM json_each(?) AS asked CROSS JOIN users
        WHERE users.id = asked.value AND users.account_id = ?`,
  params: [JSON.stringify(ids), accountId],
});

/** The users and groups, of these, that an identity is or is in. */
export const selectOwn = (
  { accountId }: Pick<Tenant, "accountId">,
  identityId: string,
  ids: readonly string[],
): Statement<{ id: string }> => ({
  sql: `SELECT users.id FROM json_each(?) AS asked CROSS JOIN users
        WHERE users.id = asked.value AND users.account_id = ? AND users.identity_id = ?
        UNION ALL
        SELECT group_members.group_id FROM json_each(?) AS asked CROSS JOIN group_members
        WHERE group_members.account_id = ? AND group_members.identity_id = ? AND group_members.group_id = asked.value`,
  params: [JSON.stringify(ids), accountId, identityId, JSON.stringify(ids), accountId, identityId],
});

/** Claims due mails for an attempt. One whose end is never recorded is due again at `retryAt` (epoch ms). */
export const claimDueMails = (
  now: number,
  retryAt: number,
  limit: number,
  withNotifications: boolean,
): Statement<MailRow> =>
  statement(
    build
      .update(mails)
      .set({
        uncertain: sql`${mails.uncertain} + 1`,
        dueAt: retryAt,
      })
      .where(
        sql`rowid IN (SELECT rowid FROM mails WHERE due_at <= ${now} AND expires_at > ${now} AND (${Number(withNotifications)} OR topic <> ${NOTIFICATIONS}) ORDER BY due_at LIMIT ${limit})`,
      )
      .returning(columnsOf(mails)),
  );

/** The mails have no recipient any more, and are not sent. They still count in the limits of a day. */
export const forgetRecipients = (ids: readonly string[]): Statement => ({
  sql: `UPDATE OR IGNORE mails SET recipient = '', sealed = '', due_at = NULL
        WHERE id IN (SELECT value FROM json_each(?))`,
  params: [JSON.stringify(ids)],
});

/** Of a deleted organization: the addresses of its identities. */
export const deleteNotificationMails = ({ accountId }: Pick<Tenant, "accountId">): Statement => ({
  sql: "DELETE FROM mails WHERE account_id = ? AND topic = ?",
  params: [accountId, NOTIFICATIONS],
});

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

/** The recipient has another address. No row if the organization has sent that one too many mails since yesterday. */
export const moveMail = (
  { id, recipient, accountId, topic, createdAt }: MailRow,
  address: string,
  limit: number,
): Statement<{ recipient: string }> => ({
  sql: `UPDATE mails SET recipient = ? WHERE id = ? AND recipient = ? AND (
          SELECT count(*) FROM mails WHERE account_id = ? AND topic = ? AND created_at > ? AND recipient = ?) < ?
        RETURNING recipient`,
  params: [address, id, recipient, accountId, topic, createdAt - DAY_MS, address, limit],
});

export const deleteMailsOf = ({ accountId }: Pick<Tenant, "accountId">): Statement =>
  statement(build.delete(mails).where(eq(mails.accountId, accountId)));

export const MAILS: Expiring = { table: "mails", column: "expires_at" };
