/** The only SQL about links for a new password. */
import { eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { type PasswordLinkRow, passwordLinks } from "./table.ts";

/**
 * True while the person is a member of the organization `account`, and of no other one that `creator` does not own: or
 * the owner of one organization could take over what belongs to another. For an API key, `creator` is null.
 */
const mayReset = (person: string, account: string, creator: string): string =>
  `EXISTS (SELECT 1 FROM memberships AS own WHERE own.account_id = ${account} AND own.person_id = ${person})
   AND NOT EXISTS (
     SELECT 1 FROM memberships AS other
     WHERE other.person_id = ${person} AND other.account_id <> ${account} AND NOT EXISTS (
       SELECT 1 FROM memberships AS owner
       WHERE owner.account_id = other.account_id AND owner.person_id = ${creator} AND owner.role = 'owner'))`;

/** A link is also over when the owner who made it is one no more, or the API key that made it was revoked. */
const IS_OPEN = `password_links.token_hash = ? AND password_links.expires_at > ?
  AND (password_links.created_by_key IS NULL
    OR EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = password_links.created_by_key))
  AND (password_links.created_by IS NULL OR EXISTS (
    SELECT 1 FROM memberships AS maker WHERE maker.account_id = password_links.account_id
      AND maker.person_id = password_links.created_by AND maker.role = 'owner'))
  AND (password_links.account_id IS NULL
    OR (${mayReset("password_links.person_id", "password_links.account_id", "password_links.created_by")}))`;

/** Returns a row if the person is a member of the organization. */
export const selectIsMember = ({ accountId }: Tenant, personId: string): Statement<{ id: string }> => ({
  sql: "SELECT person_id AS id FROM memberships WHERE account_id = ? AND person_id = ?",
  params: [accountId, personId],
});

/** Inserts a link in place of the person's earlier ones, and returns a row, if its maker may reset the password. */
export const insertPasswordLink = (
  link: PasswordLinkRow & { readonly accountId: string },
): readonly [Statement<{ tokenHash: string }>, Statement] => [
  {
    sql: `INSERT INTO password_links
            (token_hash, person_id, account_id, created_by, created_by_key, created_at, expires_at)
          SELECT token_hash, person_id, account_id, created_by, created_by_key, created_at, expires_at FROM (
            SELECT ? AS token_hash, ? AS person_id, ? AS account_id, ? AS created_by, ? AS created_by_key,
              ? AS created_at, ? AS expires_at
          ) AS link WHERE ${mayReset("link.person_id", "link.account_id", "link.created_by")}
          RETURNING token_hash AS tokenHash`,
    params: [
      ...[link.tokenHash, link.personId, link.accountId, link.createdBy, link.createdByKey],
      ...[link.createdAt, link.expiresAt],
    ],
  },
  {
    sql: `DELETE FROM password_links WHERE person_id = ? AND token_hash <> ?
            AND EXISTS (SELECT 1 FROM password_links AS made WHERE made.token_hash = ?)`,
    params: [link.personId, link.tokenHash, link.tokenHash],
  },
];

/**
 * Inserts a link for the person with an address, if there is one. Earlier links stay: a stranger who asks for another
 * one must not end that which the person is about to open.
 */
export const insertRequestedLink = (
  email: string,
  { tokenHash, createdAt, expiresAt }: Pick<PasswordLinkRow, "tokenHash" | "createdAt" | "expiresAt">,
): Statement => ({
  sql: `INSERT INTO password_links (token_hash, person_id, created_at, expires_at)
        SELECT ?, id, ?, ? FROM people WHERE email = ?`,
  params: [tokenHash, createdAt, expiresAt, email],
});

/** A link that can still be used. */
export interface OpenPasswordLink {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
}

export const selectOpenPasswordLink = (tokenHash: string, now: number): Statement<OpenPasswordLink> => ({
  sql: `SELECT people.id AS personId, people.name, people.email FROM password_links
        JOIN people ON people.id = password_links.person_id WHERE ${IS_OPEN}`,
  params: [tokenHash, now],
});

/** Deletes all links of a person. */
export const deletePasswordLinksOf = (personId: string): Statement =>
  statement(build.delete(passwordLinks).where(eq(passwordLinks.personId, personId)));

export const PASSWORD_LINKS: Expiring = { table: "password_links", column: "expires_at" };
