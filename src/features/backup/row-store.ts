/** SQL that writes the rows of a backup over existing ones, but never over those of another organization. */

import { sql } from "drizzle-orm";
import { listed, type Statement, statement } from "../../platform/d1/d1.ts";
import { type Row, upsertRows } from "../organizations/statements.ts";
import { STILL_ACTIVE } from "../rooms/table.ts";
import { PARTS } from "./format.ts";
import type { RowPart } from "./parts.ts";

/** Rows written by a statement, each of which returns one. */
export interface Write {
  readonly statements: readonly Statement[];
  /** Rows that the statements return when none belongs to another organization. */
  readonly returned: number;
}

function upsertOwn({ table: { name, primaryKey } }: RowPart, rows: readonly Row[]): Write {
  const isOwn =
    name === "receipts"
      ? sql`receipts.scope = excluded.scope`
      : sql`${sql.identifier(name)}.account_id = excluded.account_id`;
  const statements = upsertRows(name, primaryKey, rows, sql` WHERE ${isOwn} RETURNING 1 AS written`);
  return { statements, returned: rows.length };
}

/** Triggers count these, and the room's object copies them again. */
const DERIVED_OF_ROOMS = [
  "user_count",
  "active_participants",
  "occupied_since",
  "store_bytes",
  "file_count",
  "file_bytes",
  "stats_version",
  "joining_until",
  "watched_until",
];

/** No user is online. An update sets the store size, because the quota's trigger counts updates. */
function upsertRooms(part: RowPart, rows: readonly Row[]): Write {
  const kept = rows.map((row) => {
    const active = Number(row.last_active_at);
    const lastActive = { last_active_at: active >= STILL_ACTIVE ? active - STILL_ACTIVE : active };
    const entries = Object.entries({ ...row, ...lastActive });
    return Object.fromEntries(entries.filter(([name]) => !DERIVED_OF_ROOMS.includes(name)));
  });
  const sizes = rows.map(
    ({ account_id, id, store_bytes }) =>
      statement`UPDATE rooms SET store_bytes = ${store_bytes} WHERE account_id = ${account_id} AND id = ${id}`,
  );
  const write = upsertOwn(part, kept);
  return { ...write, statements: [...write.statements, ...sizes] };
}

const upsertFiles = (part: RowPart, rows: readonly Row[]): Write =>
  upsertOwn(
    part,
    rows.map(({ upload_id: _, ...row }) => row),
  );

/** Only the limits: triggers count the use again. */
const updateLimits = (rows: readonly Row[]): Write => ({
  statements: rows.map(
    ({ account_id, quota, max }) =>
      statement`UPDATE quotas SET max = ${max} WHERE account_id = ${account_id} AND quota = ${quota}`,
  ),
  returned: 0,
});

/** Creates unknown people without a password. Skips a member whose unconfirmed address another person has. */
const insertMembers = (rows: readonly Row[], now: number): Write => ({
  statements: rows.flatMap(({ account_id, person_id, name, email, role, joined_at, notices }) => [
    statement`INSERT INTO people (id, name, email, created_at, updated_at)
        SELECT ${person_id}, ${name}, ${email}, ${now}, ${now} WHERE NOT EXISTS (SELECT 1 FROM people
          WHERE id = ${person_id})
          AND NOT EXISTS (SELECT 1 FROM people WHERE email = ${email})`,
    statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at,
        updated_at)
        SELECT lower(hex(randomblob(16))), id, 'credential', id, NULL, ${now}, ${now} FROM people
        WHERE id = ${person_id} ON CONFLICT (provider_id, provider_account_id) DO NOTHING`,
    statement`INSERT INTO memberships (account_id, person_id, role, joined_at, notices)
        SELECT ${account_id}, id, ${role}, ${joined_at}, ${notices} FROM people WHERE id = ${person_id}
          ON CONFLICT (account_id, person_id) DO NOTHING`,
  ]),
  returned: 0,
});

export function writeRows(part: RowPart, rows: readonly Row[], now: number): Write {
  if (part.name === "rooms") return upsertRooms(part, rows);
  if (part.name === PARTS.files) return upsertFiles(part, rows);
  if (part.table.name === "quotas") return updateLimits(rows);
  if (part.name === "members") return insertMembers(rows, now);
  return upsertOwn(part, rows);
}

export const selectKnownPeople = (ids: readonly unknown[]): Statement<{ id: string }> =>
  statement`SELECT id FROM people WHERE id IN ${listed(ids)}`;

/** Files of the organization with these keys, with the data that their bytes need. */
export const selectFileFacts = (
  accountId: string,
  keys: readonly string[],
): Statement<{
  key: string;
  size: number;
  mimeType: string;
  uploadId: string | null;
}> => statement`SELECT key, size, mime_type AS mimeType, upload_id AS uploadId FROM files
    WHERE key IN ${listed(keys)} AND +account_id = ${accountId}
      AND state = 'stored'`;

/** R2's upload of a file in several parts, until it is complete. */
export const updateUpload = (accountId: string, key: string, uploadId: string | null): Statement =>
  statement`UPDATE files SET upload_id = ${uploadId} WHERE key = ${key} AND account_id = ${accountId}`;

export const deleteFileRows = (accountId: string, keys: readonly string[]): Statement =>
  statement`DELETE FROM files WHERE key IN ${listed(keys)} AND account_id = ${accountId}`;

/** The organization's IDs among these. */
export const selectOwned = (
  table: "rooms" | "webhooks" | "workflows" | "identity_groups" | "identities" | "room_links",
  accountId: string,
  ids: readonly string[],
): Statement<{ id: string }> =>
  statement`SELECT id FROM ${sql.identifier(table)} WHERE account_id = ${accountId} AND id IN ${listed(ids)}`;
