/** SQL of restores: obstacles, positions, and the opening of the organization at the end. */
import { and, eq, sql } from "drizzle-orm";
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

type StoredPerson = Omit<PeopleSlice["people"][number], "password"> & { readonly password: string | null };

export const selectPeople = (
  after: string,
  limit: number,
): Statement<StoredPerson> => statement`SELECT people.id, people.name, people.email,
    people.created_at AS createdAt,
    people.updated_at AS updatedAt,
      credentials.password
    FROM people LEFT JOIN credentials
      ON credentials.provider_id = ${PASSWORD_PROVIDER} AND credentials.provider_account_id = people.id
    WHERE people.id > ${after} ORDER BY people.id LIMIT ${limit}`;

/** Adds unknown people, and returns their rows. A password is set only where the person has none. */
export const insertPeople = (
  people: readonly StoredPerson[],
  now: number,
): readonly [Statement<{ id: string }>, Statement] => [
  statement`INSERT INTO people (id, name, email, created_at, updated_at)
      SELECT value ->> 'id', value ->> 'name', value ->> 'email', value ->> 'createdAt', value ->> 'updatedAt'
      FROM json_each(${JSON.stringify(people)}) WHERE true ON CONFLICT DO NOTHING RETURNING id`,
  statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at,
      updated_at)
      SELECT lower(hex(randomblob(16))), people.id, ${PASSWORD_PROVIDER}, people.id, given.value ->> 'password',
        ${now}, ${now}
      FROM json_each(${JSON.stringify(people)}) AS given JOIN people
        ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
      WHERE true ON CONFLICT (provider_id, provider_account_id)
        DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at
        WHERE credentials.password IS NULL`,
];
