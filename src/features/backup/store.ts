/** The only SQL about restores: what stands in their way, how far they are, and the opening of the organization in the end. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import { RESTORING_EPOCH } from "../../wire/token-claims.ts";
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
): Statement<{ id: string; name: string; createdAt: number; deletedAt: number | null }> => ({
  sql: "SELECT id, name, created_at AS createdAt, deleted_at AS deletedAt FROM accounts WHERE id = ?",
  params: [accountId],
});

/** A row while files of the organization, which was deleted, are still in R2. */
export const selectRemains = (accountId: string): readonly [Statement, Statement] => [
  { sql: "SELECT key FROM files WHERE account_id = ? AND state = 'stored' LIMIT 1", params: [accountId] },
  { sql: "SELECT key FROM files WHERE account_id = ? AND state <> 'stored' LIMIT 1", params: [accountId] },
];

type Anchor = Omit<Manifest["organization"], "tokenEpoch">;

/** Begins a restore in the directory. Violates the uniqueness of `accounts.id` when the organization exists. */
export const insertRestore = (anchor: Anchor, row: RestoreRow): readonly [Statement, Statement] => [
  {
    sql: "INSERT INTO accounts (id, name, created_at, token_epoch, database) VALUES (?, ?, ?, ?, ?)",
    params: [anchor.id, anchor.name, anchor.createdAt, RESTORING_EPOCH, row.place],
  },
  statement(build.insert(restores).values(row)),
];

/** The database beside the directory; nothing if the organization is there already. */
export const insertAnchor = ({ id, name, createdAt }: Anchor): Statement => ({
  sql: `INSERT INTO accounts (id, name, created_at, token_epoch) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  params: [id, name, createdAt, RESTORING_EPOCH],
});

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
export const requireFencingToken = ({ accountId, fencingToken }: RestoreRow): Statement => ({
  sql: `INSERT INTO restores (account_id, backup_id, place, fencing_token, token_epoch, started_at)
        SELECT NULL, '', '', 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM restores WHERE account_id = ? AND fencing_token = ?)`,
  params: [accountId, fencingToken],
});

/** Opens the organization: the token epoch that refused everyone gives way to its own. */
export const openOrganization = ({ accountId, tokenEpoch }: RestoreRow): Statement => ({
  sql: "UPDATE accounts SET token_epoch = ? WHERE id = ? AND token_epoch >= ?",
  params: [tokenEpoch, accountId, RESTORING_EPOCH],
});

export const deleteRestore = (restore: RestoreRow): Statement =>
  statement(build.delete(restores).where(holdsToken(restore)));

export const markAbandoned = (accountId: string, now: number): Statement => ({
  sql: "UPDATE accounts SET deleted_at = ? WHERE id = ? AND token_epoch >= ?",
  params: [now, accountId, RESTORING_EPOCH],
});

/** The row of an organization that exists and is not being restored. */
export const selectOrganizationToCopy = (accountId: string): Statement<Manifest["organization"]> => ({
  sql: `SELECT id, name, created_at AS createdAt, token_epoch AS tokenEpoch FROM accounts
        WHERE id = ? AND deleted_at IS NULL AND token_epoch < ?`,
  params: [accountId, RESTORING_EPOCH],
});

type OrganizationRow = Omit<ListedOrganization, "isBeingRestored"> & { readonly isBeingRestored: number };

const ORGANIZATION = `SELECT id, name, token_epoch >= ${RESTORING_EPOCH} AS isBeingRestored FROM accounts`;

/** In the order of their IDs, those behind `after`; deleted ones are left out. */
export const selectOrganizations = (after: string, limit: number): Statement<OrganizationRow> => ({
  sql: `${ORGANIZATION} WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?`,
  params: [after, limit],
});

export const selectOrganization = (id: string): Statement<OrganizationRow> => ({
  sql: `${ORGANIZATION} WHERE id = ? AND deleted_at IS NULL`,
  params: [id],
});

type StoredPerson = Omit<PeopleSlice["people"][number], "password"> & { readonly password: string | null };

export const selectPeople = (after: string, limit: number): Statement<StoredPerson> => ({
  sql: `SELECT people.id, people.name, people.email, people.created_at AS createdAt, people.updated_at AS updatedAt,
          credentials.password
        FROM people LEFT JOIN credentials
          ON credentials.provider_id = ? AND credentials.provider_account_id = people.id
        WHERE people.id > ? ORDER BY people.id LIMIT ?`,
  params: [PASSWORD_PROVIDER, after, limit],
});

/** Adds unknown people, and returns their rows. A password is set only where the person has none. */
export const insertPeople = (
  people: readonly StoredPerson[],
  now: number,
): readonly [Statement<{ id: string }>, Statement] => [
  {
    sql: `INSERT INTO people (id, name, email, created_at, updated_at)
          SELECT value ->> 'id', value ->> 'name', value ->> 'email', value ->> 'createdAt', value ->> 'updatedAt'
          FROM json_each(?) WHERE true ON CONFLICT DO NOTHING RETURNING id`,
    params: [JSON.stringify(people)],
  },
  {
    sql: `INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at, updated_at)
          SELECT lower(hex(randomblob(16))), people.id, ?, people.id, given.value ->> 'password', ?, ?
          FROM json_each(?) AS given JOIN people
            ON people.id = given.value ->> 'id' AND people.email = given.value ->> 'email'
          WHERE true ON CONFLICT (provider_id, provider_account_id)
            DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at
            WHERE credentials.password IS NULL`,
    params: [PASSWORD_PROVIDER, now, now, JSON.stringify(people)],
  },
];
