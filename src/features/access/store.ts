/** The only SQL about the access to rooms that other features do not include in theirs. */
import { and, eq, sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { build, columnsOf, type Page, prepared, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { countOnce } from "../../platform/d1/ordering.ts";
import type { BAN, Permission } from "../../wire/permissions.ts";
import type { Upcoming } from "../quotas/statements.ts";
import { IS_LIVE, rooms } from "../rooms/table.ts";
import { accessAsJson } from "./statements.ts";
import { accessDefaults, roomAccess, SUBJECT_KINDS } from "./table.ts";

type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** The change of one entry; null removes it. The default's subject is empty. */
export interface EntryChange {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  readonly permissions: readonly (Permission | typeof BAN)[] | null;
}

/** The changes for `json_each`, whose rows have the columns {@link CHANGED}. */
const asJson = (changes: readonly EntryChange[]): string =>
  JSON.stringify(
    changes.map(({ kind, subjectId, permissions }) => [
      kind,
      subjectId,
      permissions && JSON.stringify(permissions),
    ]),
  );

const CHANGED = {
  kind: "(changes.value ->> 0)",
  subjectId: "(changes.value ->> 1)",
  permissions: "(changes.value ->> 2)",
};

/** The condition that joins the entries to the changes. Behind CROSS JOIN, SQLite looks each of them up. */
const IS_CHANGED = `room_access.kind = ${CHANGED.kind} AND room_access.subject_id = ${CHANGED.subjectId}`;

/** Selects a row for each entry that the changes make another one. */
export const selectDifferences = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement => ({
  sql: `SELECT 1 FROM json_each(?) AS changes LEFT JOIN room_access ON room_access.account_id = ?
          AND room_access.room_id = ? AND ${IS_CHANGED}
        WHERE room_access.permissions IS NOT ${CHANGED.permissions}`,
  params: [asJson(changes), accountId, roomId],
});

/** Before the changes: the entries of groups and identities that they add, less those that they remove. */
export const entriesAdded = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Upcoming => ({
  sql: `(SELECT nullif(max(sum((${CHANGED.permissions} IS NOT NULL) - (room_access.subject_id IS NOT NULL)), 0), 0)
         FROM json_each(?) AS changes LEFT JOIN room_access ON room_access.account_id = ?
           AND room_access.room_id = ? AND ${IS_CHANGED}
         WHERE ${CHANGED.kind} <> 'default')`,
  params: [asJson(changes), accountId, roomId],
});

/** The identities whose own entry, or that of a group, changes. */
export const selectConcerned = (
  { accountId }: Tenant,
  changes: readonly EntryChange[],
  limit: number,
): Statement<{ id: string }> => ({
  sql: `WITH changes AS (SELECT value FROM json_each(?1))
        SELECT ${CHANGED.subjectId} AS id FROM changes WHERE ${CHANGED.kind} = 'identity'
        UNION SELECT identity_id FROM changes CROSS JOIN group_members
          ON group_members.account_id = ?2 AND group_members.group_id = ${CHANGED.subjectId}
          WHERE ${CHANGED.kind} = 'group'
        LIMIT ?3`,
  params: [asJson(changes), accountId, limit],
});

const ROOM = rowAsJson(rooms, "rooms");

/** `access.changed`, before the changes, if they make any entry another one. */
export function insertAccessEvent(
  tenant: Tenant,
  entry: EventEntry,
  changes: readonly EntryChange[],
): Statement<OutboxEventRow> {
  const differences = selectDifferences(tenant, entry.roomId, changes);
  return insertEvent(tenant, entry, {
    from: "rooms",
    where: {
      sql: `rooms.account_id = ? AND rooms.id = ? AND EXISTS (${differences.sql})`,
      params: [tenant.accountId, entry.roomId, ...differences.params],
    },
    room: ROOM,
  });
}

/** The constraint that {@link upsertEntries} violates for a group or an identity that does not exist. */
export const SUBJECT_MISSING = "required:room_access.subject_id";

/** Writes the entries that are not to be removed. It leaves those that stay the same, and does nothing without the room. */
export const upsertEntries = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement => ({
  sql: `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
        SELECT rooms.account_id, rooms.id, ${CHANGED.kind}, CASE ${CHANGED.kind} WHEN 'default' THEN '' WHEN 'group'
            THEN (SELECT id FROM identity_groups WHERE account_id = rooms.account_id AND id = ${CHANGED.subjectId})
            ELSE (SELECT id FROM identities WHERE account_id = rooms.account_id AND id = ${CHANGED.subjectId}) END,
          ${CHANGED.permissions}
        FROM rooms CROSS JOIN json_each(?) AS changes
        WHERE rooms.account_id = ? AND rooms.id = ? AND ${IS_LIVE} AND ${CHANGED.permissions} IS NOT NULL
        ON CONFLICT (account_id, room_id, kind, subject_id) DO UPDATE SET permissions = excluded.permissions
          WHERE room_access.permissions <> excluded.permissions`,
  params: [asJson(changes), accountId, roomId],
});

export const deleteEntries = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement => ({
  sql: `DELETE FROM room_access WHERE rowid IN (
          SELECT room_access.rowid FROM rooms CROSS JOIN json_each(?) AS changes CROSS JOIN room_access
          WHERE rooms.account_id = ? AND rooms.id = ? AND ${IS_LIVE} AND ${CHANGED.permissions} IS NULL
            AND room_access.account_id = rooms.account_id AND room_access.room_id = rooms.id AND ${IS_CHANGED})`,
  params: [asJson(changes), accountId, roomId],
});

/** The subjects of the changes that an entry can not be written for. */
export const selectMissingSubjects = (
  { accountId }: Tenant,
  changes: readonly EntryChange[],
): Statement<{ kind: SubjectKind; id: string }> => ({
  sql: `SELECT ${CHANGED.kind} AS kind, ${CHANGED.subjectId} AS id FROM json_each(?2) AS changes
        WHERE ${CHANGED.permissions} IS NOT NULL AND CASE ${CHANGED.kind} WHEN 'default' THEN FALSE WHEN 'group'
          THEN NOT EXISTS (SELECT 1 FROM identity_groups WHERE account_id = ?1 AND id = ${CHANGED.subjectId})
          ELSE NOT EXISTS (SELECT 1 FROM identities WHERE account_id = ?1 AND id = ${CHANGED.subjectId}) END`,
  params: [accountId, asJson(changes)],
});

/** An entry with the name of its subject; null for the default. */
export interface EntryRow {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  /** As JSON. */
  readonly permissions: string;
  readonly name: string | null;
  readonly customId: string | null;
}

/** Selects entries of `from`, which has `room_access`, and the names of their subjects. */
const selectEntries = (from: string, condition: string, params: readonly unknown[]): Statement<EntryRow> => ({
  sql: `SELECT room_access.kind, room_access.subject_id AS "subjectId", room_access.permissions,
          coalesce(identities.name, identity_groups.name) AS name,
          coalesce(identities.custom_id, identity_groups.custom_id) AS "customId"
        FROM ${from}
          LEFT JOIN identity_groups ON room_access.kind = 'group'
            AND identity_groups.account_id = room_access.account_id AND identity_groups.id = room_access.subject_id
          LEFT JOIN identities ON room_access.kind = 'identity'
            AND identities.account_id = room_access.account_id AND identities.id = room_access.subject_id
        WHERE ${condition}`,
  params,
});

/** The entries that the changes name, as far as they are there, in no order. */
export const selectChanged = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement<EntryRow> =>
  selectEntries(
    "json_each(?) AS changes CROSS JOIN room_access",
    `room_access.account_id = ? AND room_access.room_id = ? AND ${IS_CHANGED}`,
    [asJson(changes), accountId, roomId],
  );

/** A page of the entries of groups, then of identities, each by ID. */
export function selectPage({ accountId }: Tenant, roomId: string, page: Page): Statement<EntryRow> {
  const kind = SUBJECT_KINDS[Number(page.after?.key ?? 0)] ?? "default";
  return selectEntries(
    "room_access",
    `room_access.account_id = ? AND room_access.room_id = ? AND (room_access.kind, room_access.subject_id) > (?, ?)
     ORDER BY room_access.kind, room_access.subject_id LIMIT ? OFFSET ?`,
    [accountId, roomId, kind, page.after?.id ?? "", page.limit, page.offset],
  );
}

export const positionOf = ({ kind, subjectId }: EntryRow) => ({
  key: SUBJECT_KINDS.indexOf(kind),
  id: subjectId,
});

export const countEntries = ({ accountId }: Tenant, roomId: string, page: Page) =>
  countOnce(page, () => ({
    sql: "SELECT count(*) AS total FROM room_access WHERE account_id = ? AND room_id = ? AND kind > 'default'",
    params: [accountId, roomId],
  }));

/** Some entries of an identity by room, behind this one. */
export const selectEntriesOf = (
  { accountId }: Tenant,
  identityId: string,
  roomId: string,
  limit: number,
): Statement<{ roomId: string; permissions: string }> => ({
  sql: `SELECT room_id AS "roomId", permissions FROM room_access
        WHERE account_id = ? AND kind = 'identity' AND subject_id = ? AND room_id > ? ORDER BY room_id LIMIT ?`,
  params: [accountId, identityId, roomId, limit],
});

const accountId = sql.placeholder("accountId");

const defaultOfRoom = prepared(() =>
  build
    .select({ permissions: columnsOf(roomAccess).permissions })
    .from(roomAccess)
    .where(
      and(
        eq(roomAccess.accountId, accountId),
        eq(roomAccess.roomId, sql.placeholder("roomId")),
        eq(roomAccess.kind, "default"),
        eq(roomAccess.subjectId, ""),
      ),
    ),
);

/** The room's default, without a row if that is empty. */
export const selectDefault = ({ accountId }: Tenant, roomId: string) => defaultOfRoom({ accountId, roomId });

/** The entries that decide the access of an identity to a room, as JSON; without a row if there is no such identity. */
export const selectAccessOf = (
  { accountId }: Tenant,
  roomId: string,
  identityId: string,
): Statement<{ access: string }> => ({
  sql: `SELECT ${accessAsJson("?1", "?2", "?3")} AS access FROM identities WHERE account_id = ?1 AND id = ?3`,
  params: [accountId, roomId, identityId],
});

const defaultOfNew = prepared(() =>
  build
    .select({ permissions: columnsOf(accessDefaults).permissions })
    .from(accessDefaults)
    .where(eq(accessDefaults.accountId, accountId)),
);

/** The default of new rooms, without a row if that is empty. */
export const selectDefaultOfNew = ({ accountId }: Tenant) => defaultOfNew({ accountId });

export const setDefaultOfNew = (
  { accountId }: Tenant,
  permissions: readonly Permission[],
): readonly [Statement, Statement] => {
  const params = [accountId, JSON.stringify(permissions)];
  return [
    { sql: "DELETE FROM access_defaults WHERE account_id = ? AND ? = '[]'", params },
    {
      sql: `INSERT INTO access_defaults (account_id, permissions) SELECT ?1, ?2 WHERE ?2 <> '[]'
            ON CONFLICT (account_id) DO UPDATE SET permissions = excluded.permissions
              WHERE access_defaults.permissions <> excluded.permissions`,
      params,
    },
  ];
};
