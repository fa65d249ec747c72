/** The only SQL about people and their sign-in sessions. */
import { and, eq } from "drizzle-orm";
import { build, type Statement, statement } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { RESTORING_EPOCH } from "../../wire/being-restored.ts";
import { hasPassword, PASSWORD_PROVIDER } from "./password-store.ts";
import { people, signInSessions } from "./table.ts";

/** A person with their organizations, but for those that are deleted, or being restored. */
export interface PersonRow {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  /** JSON: a list of `id`, `name` and `role`, in the order in which the person joined. */
  readonly organizations: string;
}

/** A sign-in session with the person it belongs to. */
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

/** The person with an email address, and the hash of their password. */
export const selectPersonByEmail = (email: string): Statement<PersonRow & { password: string | null }> => ({
  sql: `SELECT ${PERSON}, credentials.password FROM people
        LEFT JOIN credentials ON credentials.person_id = people.id AND credentials.provider_id = ?
        WHERE people.email = ?`,
  params: [PASSWORD_PROVIDER, email],
});

export const insertPerson = (id: string, { name, email }: { name: string; email: string }, now: number) =>
  statement(build.insert(people).values({ id, name, email, createdAt: now, updatedAt: now }));

export const updatePerson = (personId: string, name: string, now: number): Statement =>
  statement(build.update(people).set({ name, updatedAt: now }).where(eq(people.id, personId)));

/** The sign-in session of a token, expired or not. */
export const selectSignIn = (tokenHash: string): Statement<SignInRow> => ({
  sql: `SELECT sessions.token_hash AS tokenHash, sessions.expires_at AS expiresAt, ${PERSON}
        FROM sessions JOIN people ON people.id = sessions.person_id WHERE sessions.token_hash = ?`,
  params: [tokenHash],
});

/**
 * Begins a sign-in session, unless the password whose hash was verified has been replaced meanwhile: what proved the old
 * one must not outlive it.
 */
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

/** Extends a sign-in session until `expiresAt` (epoch ms). */
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
export const deleteSignInsOf = (personId: string, password: string): Statement =>
  statement(
    build
      .delete(signInSessions)
      .where(and(eq(signInSessions.personId, personId), hasPassword(personId, password))),
  );

export const SIGN_INS: Expiring = { table: "sessions", column: "expires_at" };
