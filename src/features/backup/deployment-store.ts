/** The only SQL about a deployment as a whole: slices of its organizations and of its people, in the directory. */

import type { Statement } from "../../platform/d1/d1.ts";
import { RESTORING_EPOCH } from "../../wire/being-restored.ts";
import { PASSWORD_PROVIDER } from "../people/table.ts";

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  /** 0 or 1. */
  readonly isBeingRestored: number;
}

const ORGANIZATION = `SELECT id, name, token_epoch >= ${RESTORING_EPOCH} AS isBeingRestored FROM accounts`;

/** In the order of their IDs, those behind `after`; deleted ones are left out. */
export const selectOrganizations = (after: string, limit: number): Statement<OrganizationRow> => ({
  sql: `${ORGANIZATION} WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?`,
  params: [after, limit],
});

/** No row for one that does not exist, or was deleted. */
export const selectOrganization = (id: string): Statement<OrganizationRow> => ({
  sql: `${ORGANIZATION} WHERE id = ? AND deleted_at IS NULL`,
  params: [id],
});

/** A person with the hash of their password, in the clear. */
export interface StoredPerson {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly password: string | null;
}

/** In the order of their IDs, those behind `after`. */
export const selectPeople = (after: string, limit: number): Statement<StoredPerson> => ({
  sql: `SELECT people.id, people.name, people.email, people.created_at AS createdAt, people.updated_at AS updatedAt,
          credentials.password
        FROM people LEFT JOIN credentials
          ON credentials.provider_id = ? AND credentials.provider_account_id = people.id
        WHERE people.id > ? ORDER BY people.id LIMIT ?`,
  params: [PASSWORD_PROVIDER, after, limit],
});

/**
 * Adds those whom the service knows neither by their ID nor by their address, and returns a row for each. A password is
 * theirs only where they have none: what they are here and now is not replaced.
 */
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
