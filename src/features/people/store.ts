/** The only SQL about people, their passwords, links for a new password, and sign-in sessions. */

import type { Person } from "@atrium/contract/rest/people.ts";
import { and, eq, exists, type SQL, sql } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { RESTORING_EPOCH } from "../../platform/token-claims.ts";
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
  readonly beganAt: number;
}

const PERSON = sql`people.id AS personId, people.name, people.email, (
      SELECT json_group_array(json_object('id', id, 'name', name, 'role', role)) FROM (
        SELECT accounts.id, accounts.name, memberships.role
        FROM memberships JOIN accounts ON accounts.id = memberships.account_id
        WHERE memberships.person_id = people.id AND accounts.token_epoch < ${RESTORING_EPOCH}
          AND accounts.deleted_at IS NULL
        ORDER BY memberships.joined_at, memberships.account_id
      )
    ) AS organizations`;

export const selectPersonByEmail = (
  email: string,
): Statement<
  PersonRow & { password: string | null }
> => statement`SELECT ${PERSON}, credentials.password FROM people
    LEFT JOIN credentials ON credentials.person_id = people.id AND credentials.provider_id = ${PASSWORD_PROVIDER}
    WHERE people.email = ${email}`;

export const insertPerson = (person: Person, now: number): Statement =>
  statement(build.insert(people).values({ ...person, createdAt: now, updatedAt: now }));

export const updatePerson = (personId: string, name: string, now: number): Statement =>
  statement(build.update(people).set({ name, updatedAt: now }).where(eq(people.id, personId)));

/** The sign-in session of a token, expired or not. */
export const selectSignIn = (
  tokenHash: string,
): Statement<SignInRow> => statement`SELECT sessions.token_hash AS tokenHash,
    sessions.expires_at AS expiresAt, sessions.created_at AS beganAt,
    ${PERSON}
    FROM sessions JOIN people ON people.id = sessions.person_id WHERE sessions.token_hash = ${tokenHash}`;

/** A condition that holds while what a person proved themselves by has not been replaced. */
export type Proof = SQL;

export const passwordIs = (personId: string, hash: string): Proof =>
  sql`EXISTS (SELECT 1 FROM credentials WHERE provider_id = ${PASSWORD_PROVIDER}
        AND provider_account_id = ${personId} AND password = ${hash})`;

/** The password suffices: the person has no second factor. */
export const passwordSuffices = (personId: string, hash: string): Proof =>
  sql`${passwordIs(personId, hash)} AND NOT EXISTS (SELECT 1 FROM second_factors WHERE person_id = ${personId})`;

/** Begins a sign-in session, and returns a row, while `proof` holds. */
export const insertSignIn = (
  {
    id,
    tokenHash,
    personId,
    browser,
    expiresAt,
    createdAt,
  }: Omit<typeof signInSessions.$inferSelect, "updatedAt">,
  proof: Proof,
): Statement<{ id: string }> =>
  statement`INSERT INTO sessions (id, token_hash, person_id, browser, expires_at, created_at, updated_at)
      SELECT ${id}, ${tokenHash}, ${personId}, ${browser}, ${expiresAt}, ${createdAt}, ${createdAt}
      WHERE ${proof}
      RETURNING id`;

export const updateSignIn = (tokenHash: string, expiresAt: number, now: number): Statement =>
  statement(
    build
      .update(signInSessions)
      .set({ expiresAt, updatedAt: now })
      .where(eq(signInSessions.tokenHash, tokenHash)),
  );

export const deleteSignIn = (tokenHash: string): Statement =>
  statement(build.delete(signInSessions).where(eq(signInSessions.tokenHash, tokenHash)));

interface ListedSignIn {
  readonly id: string;
  readonly browser: string | null;
  /** Epoch milliseconds, as {@link updatedAt}. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly isCurrent: number;
}

/** The sign-in sessions of a person at `now`, the latest used first. */
export const selectSignInsOf = (
  { personId, tokenHash }: Pick<SignInRow, "personId" | "tokenHash">,
  now: number,
  limit: number,
): Statement<ListedSignIn> => statement`SELECT id, browser, created_at AS createdAt, updated_at AS updatedAt,
    token_hash = ${tokenHash} AS isCurrent
    FROM sessions WHERE person_id = ${personId} AND expires_at > ${now}
    ORDER BY isCurrent DESC, updated_at DESC, id LIMIT ${limit}`;

/** Ends one sign-in session of a person by its ID, and returns a row. */
export const deleteOwnSignIn = (personId: string, id: string): Statement<{ id: string }> =>
  statement`DELETE FROM sessions WHERE id = ${id} AND person_id = ${personId} RETURNING id`;

/** Ends the sign-in sessions of a person but this one, and returns a row for each. */
export const deleteOtherSignIns = ({
  personId,
  tokenHash,
}: Pick<SignInRow, "personId" | "tokenHash">): Statement<{ id: string }> =>
  statement`DELETE FROM sessions WHERE person_id = ${personId} AND token_hash <> ${tokenHash} RETURNING id`;

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

type PasswordRow = Parameters<typeof insertPassword>;

/** Sets a password where `condition` holds, also of a person who had none; an earlier one is replaced if `may` holds. */
const upsertPassword = (
  [id, personId, password, now]: PasswordRow,
  condition: SQL,
  may: SQL,
): Statement<{ id: string }> =>
  statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at, updated_at)
      SELECT ${id}, id, ${PASSWORD_PROVIDER}, id, ${password}, ${now}, ${now} FROM people
      WHERE id = ${personId} AND ${condition}
      ON CONFLICT (provider_id, provider_account_id)
        DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at WHERE ${may}
      RETURNING id`;

/** Sets a password, unless it has been replaced since `verified`, its hash or null for none, was read. */
export const updatePassword = (verified: string | null, ...row: PasswordRow): Statement =>
  verified === null
    ? upsertPassword(row, sql`true`, sql`credentials.password IS NULL`)
    : upsertPassword(row, passwordIs(row[1], verified), sql`credentials.password = ${verified}`);

/** Sets a password, and returns a row, if the link may still do so when the statement runs. */
export const replacePassword = (linkHash: string, ...row: PasswordRow): Statement<{ id: string }> =>
  upsertPassword(row, sql`EXISTS (${openLink(linkHash, row[3])})`, sql`true`);

/** A person's account at an OpenID Connect provider. */
export interface ProviderAccount {
  /** The issuer's URL. */
  readonly issuer: string;
  /** The provider's ID of the person. */
  readonly subject: string;
}

export const providerIs = (personId: string, { issuer, subject }: ProviderAccount): Proof =>
  sql`EXISTS (SELECT 1 FROM credentials WHERE provider_id = ${issuer} AND provider_account_id = ${subject}
        AND person_id = ${personId})`;

export const selectPersonByProvider = ({
  issuer,
  subject,
}: ProviderAccount): Statement<PersonRow> => statement`SELECT ${PERSON} FROM credentials
    JOIN people ON people.id = credentials.person_id
    WHERE credentials.provider_id = ${issuer} AND credentials.provider_account_id = ${subject}`;

/** Connects a person who has this address; fails when another person has the account at the provider. */
export const insertProvider = (
  id: string,
  { id: personId, email }: Pick<Person, "id" | "email">,
  { issuer, subject }: ProviderAccount,
  now: number,
): Statement =>
  statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, created_at, updated_at)
      SELECT ${id}, id, ${issuer}, ${subject}, ${now}, ${now} FROM people
      WHERE id = ${personId} AND email = ${email}`;

/** Deletes every way to sign in of a person, their sign-in sessions, links for a new password, and what they let others in by. */
export const deleteCredentialsOf = (
  personId: string,
): readonly [Statement, Statement, Statement, Statement, Statement, Statement, Statement] => [
  statement(build.delete(credentials).where(eq(credentials.personId, personId))),
  statement`DELETE FROM passkeys WHERE person_id = ${personId}`,
  statement`DELETE FROM second_factors WHERE person_id = ${personId}`,
  statement(build.delete(signInSessions).where(eq(signInSessions.personId, personId))),
  deletePasswordLinksOf(personId),
  statement(build.delete(passwordLinks).where(eq(passwordLinks.createdBy, personId))),
  statement`DELETE FROM invitations WHERE invited_by = ${personId}`,
];

/** Deletes a person's account at a provider. */
export const deleteProvider = (personId: string, issuer: string): Statement<{ id: string }> =>
  statement`DELETE FROM credentials WHERE person_id = ${personId} AND provider_id = ${issuer} RETURNING id`;

/** The same, unless it is their last way to sign in. */
export const deleteDispensableProvider = (personId: string, issuer: string): Statement<{ id: string }> =>
  statement`DELETE FROM credentials WHERE person_id = ${personId} AND provider_id = ${issuer}
      AND (EXISTS (SELECT 1 FROM passkeys WHERE passkeys.person_id = ${personId})
        OR EXISTS (SELECT 1 FROM credentials AS other WHERE other.person_id = ${personId}
          AND other.provider_id = ${PASSWORD_PROVIDER} AND other.password IS NOT NULL))
      RETURNING id`;

/** The ways to sign in of a person: the password's, and those of providers. */
export const selectCredentials = (
  personId: string,
): Statement<{ providerId: string }> => statement`SELECT provider_id AS providerId FROM credentials
    WHERE person_id = ${personId} AND (provider_id <> ${PASSWORD_PROVIDER} OR password IS NOT NULL)`;

/**
 * True while the link's person is a member of its organization, and of no other one that its maker does not own. Otherwise
 * an owner could take over another organization through its member. For an API key, there is no such maker.
 */
const MAY_RESET = sql`EXISTS (SELECT 1 FROM memberships AS own
      WHERE own.account_id = password_links.account_id AND own.person_id = password_links.person_id)
    AND NOT EXISTS (
      SELECT 1 FROM memberships AS other
      WHERE other.person_id = password_links.person_id AND other.account_id <> password_links.account_id
        AND NOT EXISTS (
        SELECT 1 FROM memberships AS owner WHERE owner.account_id = other.account_id
          AND owner.person_id = password_links.created_by AND owner.role = 'owner'))`;

/**
 * The query of the person whose password a link may still change. A link also ends when its maker is no longer an owner, or
 * when the API key that made it is revoked.
 */
const openLink = (tokenHash: string, now: number): SQL =>
  sql`SELECT people.id AS personId, people.name, people.email FROM password_links
        JOIN people ON people.id = password_links.person_id
      WHERE password_links.token_hash = ${tokenHash} AND password_links.expires_at > ${now}
        AND (password_links.created_by_key IS NULL
          OR EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = password_links.created_by_key))
        AND (password_links.created_by IS NULL OR EXISTS (
          SELECT 1 FROM memberships AS maker WHERE maker.account_id = password_links.account_id
            AND maker.person_id = password_links.created_by AND maker.role = 'owner'))
        AND (password_links.account_id IS NULL OR (${MAY_RESET}))`;

/** Returns a row if the person is a member of the organization. */
export const selectIsMember = ({ accountId }: Tenant, personId: string): Statement<{ id: string }> =>
  statement`SELECT person_id AS id FROM memberships WHERE account_id = ${accountId} AND person_id = ${personId}`;

type PasswordLinkRow = typeof passwordLinks.$inferSelect;

/** Inserts a link in place of the person's earlier ones, and returns a row, if its maker may reset the password. */
export const insertPasswordLink = (
  link: PasswordLinkRow & { readonly accountId: string },
): readonly [Statement<{ tokenHash: string }>, Statement] => [
  statement`INSERT INTO password_links
        (token_hash, person_id, account_id, created_by, created_by_key, created_at, expires_at)
      SELECT token_hash, person_id, account_id, created_by, created_by_key, created_at, expires_at FROM (
        SELECT ${link.tokenHash} AS token_hash, ${link.personId} AS person_id, ${link.accountId} AS account_id,
          ${link.createdBy} AS created_by, ${link.createdByKey} AS created_by_key,
          ${link.createdAt} AS created_at, ${link.expiresAt} AS expires_at
      ) AS password_links WHERE ${MAY_RESET}
      RETURNING token_hash AS tokenHash`,
  statement`DELETE FROM password_links WHERE person_id = ${link.personId} AND token_hash <> ${link.tokenHash}
      AND EXISTS (SELECT 1 FROM password_links AS made WHERE made.token_hash = ${link.tokenHash})`,
];

/** Inserts a link for the person with an address. Earlier links stay, or strangers could end them by asking again. */
export const insertRequestedLink = (
  email: string,
  { tokenHash, createdAt, expiresAt }: Pick<PasswordLinkRow, "tokenHash" | "createdAt" | "expiresAt">,
): Statement => statement`INSERT INTO password_links (token_hash, person_id, created_at, expires_at)
    SELECT ${tokenHash}, id, ${createdAt}, ${expiresAt} FROM people WHERE email = ${email}`;

/** The person whose password a link may still change. */
export const selectOpenPasswordLink = (
  tokenHash: string,
  now: number,
): Statement<Pick<PersonRow, "personId" | "name" | "email">> => statement`${openLink(tokenHash, now)}`;

export const deletePasswordLinksOf = (personId: string): Statement =>
  statement(build.delete(passwordLinks).where(eq(passwordLinks.personId, personId)));
