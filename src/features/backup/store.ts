/** SQL of restores: obstacles, positions, and the opening of the organization at the end. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import { RESTORING_EPOCH } from "../../platform/token-claims.ts";
import { PASSWORD_PROVIDER } from "../people/table.ts";
import type { ListedOrganization, Manifest, PeopleSlice } from "./format.ts";
import { type RestoreRow, restores } from "./table.ts";

const FIELDS = columnsOf(restores);
const ofAccount = (accountId: string) => eq(restores.accountId, accountId);

export const selectRestore = (accountId: string): Statement<RestoreRow> =>
  statement(build.select(FIELDS).from(restores).where(ofAccount(accountId)));

/** The organization's row in the directory. */
export const selectArchived = (
  accountId: string,
): Statement<{ id: string; name: string; createdAt: number; deletedAt: number | null }> =>
  statement`SELECT id, name, created_at AS createdAt, deleted_at AS deletedAt FROM accounts WHERE id = ${accountId}`;

/** A row while files of the organization, which was deleted, are still in R2. */
export const selectRemains = (accountId: string): readonly [Statement, Statement] => [
  statement`SELECT key FROM files WHERE account_id = ${accountId} AND state = 'stored' LIMIT 1`,
  statement`SELECT key FROM files WHERE account_id = ${accountId} AND state <> 'stored' LIMIT 1`,
];

type Anchor = Omit<Manifest["organization"], "tokenEpoch">;

/** Begins a restore in the directory. Violates the uniqueness of `accounts.id` when the organization exists. */
export const insertRestore = (anchor: Anchor, row: RestoreRow): readonly [Statement, Statement] => [
  statement`INSERT INTO accounts (id, name, created_at, token_epoch, database)
      VALUES (${anchor.id}, ${anchor.name}, ${anchor.createdAt}, ${RESTORING_EPOCH}, ${row.place})`,
  statement(build.insert(restores).values(row)),
];

/** The database beside the directory; nothing if the organization is there already. */
export const insertAnchor = ({ id, name, createdAt }: Anchor): Statement =>
  statement`INSERT INTO accounts (id, name, created_at, token_epoch)
      VALUES (${id}, ${name}, ${createdAt}, ${RESTORING_EPOCH}) ON CONFLICT (id) DO NOTHING`;

export const takeRestore = (accountId: string, now: number): Statement<RestoreRow> =>
  statement(
    build
      .update(restores)
      .set({ fencingToken: sql`max(fencing_token + 1, ${now})` })
      .where(ofAccount(accountId))
      .returning(FIELDS),
  );

const holdsToken = ({ accountId, fencingToken }: RestoreRow) =>
  and(ofAccount(accountId), eq(restores.fencingToken, fencingToken));

/** Returns a row unless another run has taken the restore over. */
export const updatePosition = (restore: RestoreRow, position: string): Statement<{ fencingToken: number }> =>
  statement(
    build
      .update(restores)
      .set({ position })
      .where(holdsToken(restore))
      .returning({ fencingToken: restores.fencingToken }),
  );

/** First in a batch in the directory: fails it as a whole when another run has taken the restore over. */
export const requireFencingToken = ({
  accountId,
  fencingToken,
}: RestoreRow): Statement => statement`INSERT INTO restores (account_id, backup_id, place, fencing_token,
    token_epoch,
    started_at)
    SELECT NULL, '', '', 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM restores
      WHERE account_id = ${accountId} AND fencing_token = ${fencingToken})`;

/** Opens the organization: the token epoch that refused everyone gives way to its own. */
export const openOrganization = ({ accountId, tokenEpoch }: RestoreRow): Statement =>
  statement`UPDATE accounts SET token_epoch = ${tokenEpoch}
      WHERE id = ${accountId} AND token_epoch >= ${RESTORING_EPOCH}`;

export const deleteRestore = (restore: RestoreRow): Statement =>
  statement(build.delete(restores).where(holdsToken(restore)));

export const markAbandoned = (accountId: string, now: number): Statement =>
  statement`UPDATE accounts SET deleted_at = ${now} WHERE id = ${accountId} AND token_epoch >= ${RESTORING_EPOCH}`;

/** The row of an organization that exists and is not being restored. */
export const selectOrganizationToCopy = (
  accountId: string,
): Statement<Manifest["organization"]> => statement`SELECT id, name, created_at AS createdAt,
    token_epoch AS tokenEpoch FROM accounts
    WHERE id = ${accountId} AND deleted_at IS NULL AND token_epoch < ${RESTORING_EPOCH}`;

type OrganizationRow = Omit<ListedOrganization, "isBeingRestored"> & { readonly isBeingRestored: number };

const ORGANIZATION = sql`SELECT id, name, token_epoch >= ${RESTORING_EPOCH} AS isBeingRestored FROM accounts`;

/** Organizations behind `after`, ordered by ID, without deleted ones. */
export const selectOrganizations = (after: string, limit: number): Statement<OrganizationRow> =>
  statement`${ORGANIZATION} WHERE id > ${after} AND deleted_at IS NULL ORDER BY id LIMIT ${limit}`;

export const selectOrganization = (id: string): Statement<OrganizationRow> =>
  statement`${ORGANIZATION} WHERE id = ${id} AND deleted_at IS NULL`;

type ArchivedPerson = PeopleSlice["people"][number];
type StoredPerson = Omit<ArchivedPerson, "password"> & { readonly password: string | null };
/** `providers`, `passkeys` and the second factor are JSON. */
type PersonRow = Omit<StoredPerson, "providers" | "passkeys" | "secondFactor"> & {
  readonly providers: string;
  readonly passkeys: string;
  readonly secondFactor: string | null;
};

export const selectPeople = (
  after: string,
  limit: number,
): Statement<PersonRow> => statement`SELECT people.id, people.name, people.email,
    people.created_at AS createdAt,
    people.updated_at AS updatedAt,
      credentials.password,
      (SELECT json_group_array(json_object('issuer', provider_id, 'subject', provider_account_id))
        FROM credentials AS other
        WHERE other.person_id = people.id AND other.provider_id <> ${PASSWORD_PROVIDER}) AS providers,
      (SELECT json_group_array(json_object('id', id, 'name', name, 'credentialId', credential_id, 'publicKey', public_key,
          'counter', counter, 'transports', transports, 'createdAt', created_at, 'lastUsedAt', last_used_at))
        FROM passkeys WHERE person_id = people.id) AS passkeys, (
        SELECT json_object('keyId', key_id, 'sealed', sealed, 'lastStep', last_step, 'createdAt', created_at,
          'codes', (SELECT json_group_array(code_hash) FROM recovery_codes WHERE person_id = people.id))
        FROM second_factors WHERE person_id = people.id
      ) AS secondFactor
    FROM people LEFT JOIN credentials
      ON credentials.provider_id = ${PASSWORD_PROVIDER} AND credentials.provider_account_id = people.id
    WHERE people.id > ${after} ORDER BY people.id LIMIT ${limit}`;

/** The people of a slice who had no way to sign in before this batch, whose rows have the time `now`. */
const couldNotSignIn = (now: number): SQL => sql`NOT EXISTS (SELECT 1 FROM credentials AS own
        WHERE own.person_id = people.id AND own.created_at <> ${now}
          AND (own.provider_id <> ${PASSWORD_PROVIDER} OR own.password IS NOT NULL))
        AND NOT EXISTS (SELECT 1 FROM passkeys AS own
          WHERE own.person_id = people.id AND own.challenged_at <> ${now})`;

/**
 * Adds unknown people, and returns their rows. What they sign in by is set only where the person has no way to sign in:
 * it could be what a stranger made the account with. Challenges of before sign no one in.
 */
export const insertPeople = (
  people: readonly StoredPerson[],
  now: number,
): readonly [Statement<{ id: string }>, ...Statement[]] => [
  statement`INSERT INTO people (id, name, email, created_at, updated_at)
      SELECT value ->> 'id', value ->> 'name', value ->> 'email', value ->> 'createdAt', value ->> 'updatedAt'
      FROM json_each(${JSON.stringify(people)}) WHERE true ON CONFLICT DO NOTHING RETURNING id`,
  statement`INSERT INTO passkeys (id, person_id, name, credential_id, public_key, counter, transports, challenged_at,
        created_at, last_used_at)
      SELECT passkey.value ->> 'id', people.id, passkey.value ->> 'name', passkey.value ->> 'credentialId',
        passkey.value ->> 'publicKey', passkey.value ->> 'counter', passkey.value ->> 'transports', ${now},
        passkey.value ->> 'createdAt', passkey.value ->> 'lastUsedAt'
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
        JOIN json_each(given.value -> 'passkeys') AS passkey
      WHERE ${couldNotSignIn(now)} ON CONFLICT DO NOTHING`,
  statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, created_at, updated_at)
      SELECT lower(hex(randomblob(16))), people.id, provider.value ->> 'issuer', provider.value ->> 'subject',
        ${now}, ${now}
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
        JOIN json_each(given.value, '$.providers') AS provider
      WHERE ${couldNotSignIn(now)} ON CONFLICT DO NOTHING`,
  statement`INSERT INTO second_factors (person_id, key_id, sealed, last_step, created_at)
      SELECT people.id, given.value ->> '$.secondFactor.keyId', given.value ->> '$.secondFactor.sealed',
        given.value ->> '$.secondFactor.lastStep', given.value ->> '$.secondFactor.createdAt'
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
      WHERE given.value ->> '$.secondFactor.sealed' IS NOT NULL AND ${couldNotSignIn(now)} ON CONFLICT DO NOTHING`,
  statement`INSERT INTO recovery_codes (person_id, code_hash)
      SELECT people.id, code.value
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
        JOIN json_each(given.value, '$.secondFactor.codes') AS code
      WHERE ${couldNotSignIn(now)} ON CONFLICT DO NOTHING`,
  statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at,
      updated_at)
      SELECT lower(hex(randomblob(16))), people.id, ${PASSWORD_PROVIDER}, people.id, given.value ->> 'password',
        ${now}, ${now}
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
      WHERE ${couldNotSignIn(now)} ON CONFLICT (provider_id, provider_account_id)
        DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at
        WHERE credentials.password IS NULL`,
];
