/** The only SQL about people, their passwords, links for a new password, and sign-in sessions. */
import { and, eq, exists } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { RESTORING_EPOCH } from "../../wire/token-claims.ts";
import type { Person } from "./schema.ts";
import { credentials, PASSWORD_PROVIDER, passwordLinks, people, signInSessions } from "./table.ts";

/** A person with their organizations, without those that are deleted or being restored. */
interface PersonRow {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  /** JSON: a list of `id`, `name` and `role`, in the order in which the person joined. */
  readonly organizations: string;
}

export interface SignInRow extends PersonRow {
  readonly tokenHash: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const PERSON = `people.id AS personId, people.name, people.email, (
  SELECT json_group_array(json_object('id', id, 'name', name, 'role', role)) FROM (
    SELECT accounts.id, accounts.name, memberships.role
    FROM memberships JOIN accounts ON accounts.id = memberships.account_id
    WHERE memberships.person_id = people.id AND accounts.token_epoch < ${RESTORING_EPOCH}
      AND accounts.deleted_at IS NULL
    ORDER BY memberships.joined_at, memberships.account_id
  )
) AS organizations`;

export const selectPersonByEmail = (email: string): Statement<PersonRow & { password: string | null }> => ({
  sql: `SELECT ${PERSON}, credentials.password FROM people
        LEFT JOIN credentials ON credentials.person_id = people.id AND credentials.provider_id = ?
        WHERE people.email = ?`,
  params: [PASSWORD_PROVIDER, email],
});

export const insertPerson = (person: Person, now: number): Statement =>
  statement(build.insert(people).values({ ...person, createdAt: now, updatedAt: now }));

export const updatePerson = (personId: string, name: string, now: number): Statement =>
  statement(build.update(people).set({ name, updatedAt: now }).where(eq(people.id, personId)));

/** The sign-in session of a token, expired or not. */
export const selectSignIn = (tokenHash: string): Statement<SignInRow> => ({
  sql: `SELECT sessions.token_hash AS tokenHash, sessions.expires_at AS expiresAt, ${PERSON}
        FROM sessions JOIN people ON people.id = sessions.person_id WHERE sessions.token_hash = ?`,
  params: [tokenHash],
});

/** Begins a sign-in session, and returns a row, unless the password whose hash was `verified` has been replaced. */
export const insertSignIn = (
  { id, tokenHash, personId, expiresAt, createdAt }: Omit<typeof signInSessions.$inferInsert, "updatedAt">,
  verified: string,
): Statement<{ id: string }> => ({
  sql: `INSERT INTO sessions (id, token_hash, person_id, expires_at, created_at, updated_at)
        SELECT ?, ?, ?, ?, ?, ? WHERE EXISTS (
          SELECT 1 FROM credentials WHERE provider_id = ? AND provider_account_id = ? AND password = ?)
        RETURNING id`,
  params: [
    ...[id, tokenHash, personId, expiresAt, createdAt, createdAt],
    ...[PASSWORD_PROVIDER, personId, verified],
  ],
});

export const updateSignIn = (tokenHash: string, expiresAt: number, now: number): Statement =>
  statement(
    build
      .update(signInSessions)
      .set({ expiresAt, updatedAt: now })
      .where(eq(signInSessions.tokenHash, tokenHash)),
  );

export const deleteSignIn = (tokenHash: string): Statement =>
  statement(build.delete(signInSessions).where(eq(signInSessions.tokenHash, tokenHash)));

/** Ends all sign-in sessions of a person whose password has this hash. */
export const deleteSignInsOf = (personId: string, password: string): Statement => {
  const current = build
    .select({ id: credentials.id })
    .from(credentials)
    .where(and(passwordOf(personId), eq(credentials.password, password)));
  return statement(
    build.delete(signInSessions).where(and(eq(signInSessions.personId, personId), exists(current))),
  );
};

const passwordOf = (personId: string) =>
  and(eq(credentials.providerId, PASSWORD_PROVIDER), eq(credentials.providerAccountId, personId));

export const selectPassword = (personId: string): Statement<{ password: string | null }> =>
  statement(build.select({ password: credentials.password }).from(credentials).where(passwordOf(personId)));

export const insertPassword = (id: string, personId: string, password: string, now: number): Statement => {
  const provider = { providerId: PASSWORD_PROVIDER, providerAccountId: personId };
  const row = { id, personId, password, ...provider, createdAt: now, updatedAt: now };
  return statement(build.insert(credentials).values(row));
};

/** Replaces a password, unless it has been replaced since `verified`, its hash, was read. */
export const updatePassword = (
  personId: string,
  verified: string,
  password: string,
  now: number,
): Statement =>
  statement(
    build
      .update(credentials)
      .set({ password, updatedAt: now })
      .where(and(passwordOf(personId), eq(credentials.password, verified))),
  );

/** Replaces a password if `condition` selects a row when it runs. */
export const replacePassword = (
  personId: string,
  password: string,
  condition: Statement,
  now: number,
): Statement => ({
  sql: `UPDATE credentials SET password = ?, updated_at = ?
        WHERE provider_id = ? AND provider_account_id = ? AND EXISTS (${condition.sql})`,
  params: [password, now, PASSWORD_PROVIDER, personId, ...condition.params],
});

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

/** A link also ends when its maker is an owner no more, or when the API key that made it is revoked. */
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

type PasswordLinkRow = typeof passwordLinks.$inferSelect;

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

/** Inserts a link for the person with an address. Earlier links stay, or strangers could end them by asking again. */
export const insertRequestedLink = (
  email: string,
  { tokenHash, createdAt, expiresAt }: Pick<PasswordLinkRow, "tokenHash" | "createdAt" | "expiresAt">,
): Statement => ({
  sql: `INSERT INTO password_links (token_hash, person_id, created_at, expires_at)
        SELECT ?, id, ?, ? FROM people WHERE email = ?`,
  params: [tokenHash, createdAt, expiresAt, email],
});

/** The person whose password a link may still change. */
export const selectOpenPasswordLink = (
  tokenHash: string,
  now: number,
): Statement<Pick<PersonRow, "personId" | "name" | "email">> => ({
  sql: `SELECT people.id AS personId, people.name, people.email FROM password_links
        JOIN people ON people.id = password_links.person_id WHERE ${IS_OPEN}`,
  params: [tokenHash, now],
});

export const deletePasswordLinksOf = (personId: string): Statement =>
  statement(build.delete(passwordLinks).where(eq(passwordLinks.personId, personId)));
