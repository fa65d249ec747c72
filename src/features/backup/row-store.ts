/** The SQL that writes the rows of a backup: in place of those that are there, and never in place of another organization's. */

import type { Statement } from "../../platform/d1/d1.ts";
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

const ofSameOrganization = ({ table }: RowPart): string =>
  table.name === "receipts"
    ? "receipts.scope = excluded.scope"
    : `${table.name}.account_id = excluded.account_id`;

function upsertOwn(part: RowPart, rows: readonly Row[]): Write {
  const { name, primaryKey } = part.table;
  const statements = upsertRows(name, primaryKey, rows).map(({ sql, params }) => ({
    sql: `${sql} WHERE ${ofSameOrganization(part)} RETURNING 1 AS written`,
    params,
  }));
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
];

/** No user is online. An update sets the store size, because the quota's trigger counts updates. */
function upsertRooms(part: RowPart, rows: readonly Row[]): Write {
  const kept = rows.map((row) => {
    const active = Number(row.last_active_at);
    const lastActive = { last_active_at: active >= STILL_ACTIVE ? active - STILL_ACTIVE : active };
    const entries = Object.entries({ ...row, ...lastActive });
    return Object.fromEntries(entries.filter(([name]) => !DERIVED_OF_ROOMS.includes(name)));
  });
  const sizes = rows.map(({ account_id, id, store_bytes }) => ({
    sql: "UPDATE rooms SET store_bytes = ? WHERE account_id = ? AND id = ?",
    params: [store_bytes, account_id, id],
  }));
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
  statements: rows.map(({ account_id, quota, max }) => ({
    sql: "UPDATE quotas SET max = ? WHERE account_id = ? AND quota = ?",
    params: [max, account_id, quota],
  })),
  returned: 0,
});

/** Creates unknown people without a password. Skips a member whose unconfirmed address another person has. */
const insertMembers = (rows: readonly Row[], now: number): Write => ({
  statements: rows.flatMap(({ account_id, person_id, name, email, role, joined_at, notices }) => [
    {
      sql: `INSERT INTO people (id, name, email, created_at, updated_at)
            SELECT ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM people WHERE id = ?)
              AND NOT EXISTS (SELECT 1 FROM people WHERE email = ?)`,
      params: [person_id, name, email, now, now, person_id, email],
    },
    {
      sql: `INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at, updated_at)
            SELECT lower(hex(randomblob(16))), id, 'credential', id, NULL, ?, ? FROM people
            WHERE id = ? ON CONFLICT (provider_id, provider_account_id) DO NOTHING`,
      params: [now, now, person_id],
    },
    {
      sql: `INSERT INTO memberships (account_id, person_id, role, joined_at, notices)
            SELECT ?, id, ?, ?, ? FROM people WHERE id = ? ON CONFLICT (account_id, person_id) DO NOTHING`,
      params: [account_id, role, joined_at, notices, person_id],
    },
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

export const selectKnownPeople = (ids: readonly unknown[]): Statement<{ id: string }> => ({
  sql: "SELECT id FROM people WHERE id IN (SELECT value FROM json_each(?))",
  params: [JSON.stringify(ids)],
});

/** The files of those keys that the organization has, with what their bytes need. */
export const selectFileFacts = (
  accountId: string,
  keys: readonly string[],
): Statement<{ key: string; size: number; mimeType: string; uploadId: string | null }> => ({
  sql: `SELECT key, size, mime_type AS mimeType, upload_id AS uploadId FROM files
        WHERE key IN (SELECT value FROM json_each(?)) AND +account_id = ? AND state = 'stored'`,
  params: [JSON.stringify(keys), accountId],
});

/** R2's upload of a file in several parts, until it is complete. */
export const updateUpload = (accountId: string, key: string, uploadId: string | null): Statement => ({
  sql: "UPDATE files SET upload_id = ? WHERE key = ? AND account_id = ?",
  params: [uploadId, key, accountId],
});

export const deleteFileRows = (accountId: string, keys: readonly string[]): Statement => ({
  sql: "DELETE FROM files WHERE key IN (SELECT value FROM json_each(?)) AND account_id = ?",
  params: [JSON.stringify(keys), accountId],
});

/** The organization's IDs among these. */
export const selectOwned = (
  table: "rooms" | "webhooks" | "workflows" | "identity_groups" | "identities" | "room_links",
  accountId: string,
  ids: readonly string[],
): Statement<{ id: string }> => ({
  sql: `SELECT id FROM ${table} WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`,
  params: [accountId, JSON.stringify(ids)],
});
