/** The only SQL about the access to rooms that other features do not include in theirs. */

import type { BAN, Permission } from "@atrium/contract/resources/permissions.ts";
import { and, eq, type SQL, sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce } from "../../platform/d1/ordering.ts";
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

/** The changes as a table: its rows have the columns {@link CHANGED}. */
const tableOf = (changes: readonly EntryChange[]): SQL =>
  sql`json_each(${JSON.stringify(
    changes.map(({ kind, subjectId, permissions }) => [
      kind,
      subjectId,
      permissions && JSON.stringify(permissions),
    ]),
  )}) AS changes`;

const CHANGED = {
  kind: sql`(changes.value ->> 0)`,
  subjectId: sql`(changes.value ->> 1)`,
  permissions: sql`(changes.value ->> 2)`,
};

/** The condition that joins the entries to the changes. Behind CROSS JOIN, SQLite looks each of them up. */
const IS_CHANGED = sql`room_access.kind = ${CHANGED.kind} AND room_access.subject_id = ${CHANGED.subjectId}`;

/** The changes beside the entries of the room that they are about. */
const changedEntries = ({ accountId }: Tenant, roomId: string, changes: readonly EntryChange[]): SQL =>
  sql`${tableOf(changes)} LEFT JOIN room_access ON room_access.account_id = ${accountId}
      AND room_access.room_id = ${roomId} AND ${IS_CHANGED}`;

/** The condition that the changes make any entry another one. */
export const isDifferent = (tenant: Tenant, roomId: string, changes: readonly EntryChange[]): SQL =>
  sql`EXISTS (SELECT 1 FROM ${changedEntries(tenant, roomId, changes)}
      WHERE room_access.permissions IS NOT ${CHANGED.permissions})`;

/** The number of group and identity entries that the changes add, less those they remove. Read before the changes. */
export const entriesAdded = (tenant: Tenant, roomId: string, changes: readonly EntryChange[]): SQL =>
  sql`(SELECT nullif(max(sum((${CHANGED.permissions} IS NOT NULL) - (room_access.subject_id IS NOT NULL)), 0), 0)
      FROM ${changedEntries(tenant, roomId, changes)} WHERE ${CHANGED.kind} <> 'default')`;

/** The identities whose own entry, or that of a group, changes. */
export const selectConcerned = (
  { accountId }: Tenant,
  changes: readonly EntryChange[],
  limit: number,
): Statement<{ id: string }> => statement`WITH changes AS (SELECT value FROM ${tableOf(changes)})
    SELECT ${CHANGED.subjectId} AS id FROM changes WHERE ${CHANGED.kind} = 'identity'
    UNION SELECT identity_id FROM changes CROSS JOIN group_members
      ON group_members.account_id = ${accountId} AND group_members.group_id = ${CHANGED.subjectId}
      WHERE ${CHANGED.kind} = 'group'
    LIMIT ${limit}`;

const ROOM = rowAsJson(rooms, "rooms");

/** `access.changed`, before the changes, if they make any entry another one. */
export function insertAccessEvent(
  tenant: Tenant,
  entry: EventEntry,
  changes: readonly EntryChange[],
): Statement<OutboxEventRow> {
  const isAbout = sql`rooms.account_id = ${tenant.accountId} AND rooms.id = ${entry.roomId}`;
  return insertEvent(tenant, entry, {
    from: sql`rooms`,
    where: sql`${isAbout} AND ${isDifferent(tenant, entry.roomId, changes)}`,
    room: ROOM,
  });
}

/** The constraint that {@link upsertEntries} violates for a group or an identity that does not exist. */
export const SUBJECT_MISSING = "required:room_access.subject_id";

/** Writes the entries that are not to be removed. Skips unchanged ones, and does nothing without the room. */
export const upsertEntries = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement => statement`INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
    SELECT rooms.account_id, rooms.id, ${CHANGED.kind}, CASE ${CHANGED.kind} WHEN 'default' THEN '' WHEN 'group'
        THEN (SELECT id FROM identity_groups WHERE account_id = rooms.account_id AND id = ${CHANGED.subjectId})
        ELSE (SELECT id FROM identities WHERE account_id = rooms.account_id AND id = ${CHANGED.subjectId}) END,
      ${CHANGED.permissions}
    FROM rooms CROSS JOIN ${tableOf(changes)}
    WHERE rooms.account_id = ${accountId} AND rooms.id = ${roomId} AND ${IS_LIVE}
      AND ${CHANGED.permissions} IS NOT NULL
    ON CONFLICT (account_id, room_id, kind, subject_id) DO UPDATE SET permissions = excluded.permissions
      WHERE room_access.permissions <> excluded.permissions`;

export const deleteEntries = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement => statement`DELETE FROM room_access WHERE rowid IN (
    SELECT room_access.rowid FROM rooms CROSS JOIN ${tableOf(changes)} CROSS JOIN room_access
    WHERE rooms.account_id = ${accountId} AND rooms.id = ${roomId} AND ${IS_LIVE} AND ${CHANGED.permissions} IS NULL
      AND room_access.account_id = rooms.account_id AND room_access.room_id = rooms.id AND ${IS_CHANGED})`;

/** The subjects of the changes that an entry can not be written for. */
export const selectMissingSubjects = (
  { accountId }: Tenant,
  changes: readonly EntryChange[],
): Statement<{ kind: SubjectKind; id: string }> => statement`SELECT ${CHANGED.kind} AS kind,
    ${CHANGED.subjectId} AS id FROM ${tableOf(changes)}
    WHERE ${CHANGED.permissions} IS NOT NULL AND CASE ${CHANGED.kind} WHEN 'default' THEN FALSE WHEN 'group'
      THEN NOT EXISTS (SELECT 1 FROM identity_groups WHERE account_id = ${accountId} AND id = ${CHANGED.subjectId})
      ELSE NOT EXISTS (SELECT 1 FROM identities WHERE account_id = ${accountId} AND id = ${CHANGED.subjectId}) END`;

/** An entry with the name of its subject; null for the default. */
export interface EntryRow {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  /** Permissions as JSON. */
  readonly permissions: string;
  readonly name: string | null;
  readonly customId: string | null;
}

/** Selects entries of `from`, which has `room_access`, and the names of their subjects. */
const selectEntries = (from: SQL, condition: SQL): Statement<EntryRow> =>
  statement`SELECT room_access.kind, room_access.subject_id AS "subjectId", room_access.permissions,
        coalesce(identities.name, identity_groups.name) AS name,
        coalesce(identities.custom_id, identity_groups.custom_id) AS "customId"
      FROM ${from}
        LEFT JOIN identity_groups ON room_access.kind = 'group'
          AND identity_groups.account_id = room_access.account_id AND identity_groups.id = room_access.subject_id
        LEFT JOIN identities ON room_access.kind = 'identity'
          AND identities.account_id = room_access.account_id AND identities.id = room_access.subject_id
      WHERE ${condition}`;

/** The entries that the changes name, as far as they are there, in no order. */
export const selectChanged = (
  { accountId }: Tenant,
  roomId: string,
  changes: readonly EntryChange[],
): Statement<EntryRow> =>
  selectEntries(
    sql`${tableOf(changes)} CROSS JOIN room_access`,
    sql`room_access.account_id = ${accountId} AND room_access.room_id = ${roomId} AND ${IS_CHANGED}`,
  );

/** A page of the entries of groups, then of identities, each by ID. */
export function selectPage({ accountId }: Tenant, roomId: string, page: Page): Statement<EntryRow> {
  const kind = SUBJECT_KINDS[Number(page.after?.key ?? 0)] ?? "default";
  return selectEntries(
    sql`room_access`,
    sql`room_access.account_id = ${accountId} AND room_access.room_id = ${roomId}
          AND (room_access.kind, room_access.subject_id) > (${kind}, ${page.after?.id ?? ""})
        ORDER BY room_access.kind, room_access.subject_id LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
}

export const positionOf = ({ kind, subjectId }: EntryRow) => ({
  key: SUBJECT_KINDS.indexOf(kind),
  id: subjectId,
});

export const countEntries = ({ accountId }: Tenant, roomId: string, page: Page) =>
  countOnce(
    page,
    () =>
      statement`SELECT count(*) AS total FROM room_access
          WHERE account_id = ${accountId} AND room_id = ${roomId} AND kind > 'default'`,
  );

/** Some entries of an identity by room, behind this one. */
export const selectEntriesOf = (
  { accountId }: Tenant,
  identityId: string,
  roomId: string,
  limit: number,
): Statement<{ roomId: string; permissions: string }> => statement`SELECT room_id AS "roomId", permissions
    FROM room_access
    WHERE account_id = ${accountId} AND kind = 'identity' AND subject_id = ${identityId} AND room_id > ${roomId}
      ORDER BY room_id LIMIT ${limit}`;

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

/** The entries that decide the access of an identity to a room, as JSON; no row if there is no such identity. */
export const selectAccessOf = (
  { accountId }: Tenant,
  roomId: string,
  identityId: string,
): Statement<{ access: string }> =>
  statement`SELECT ${accessAsJson(accountId, roomId, identityId)} AS access FROM identities
      WHERE account_id = ${accountId} AND id = ${identityId}`;

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
  const given = JSON.stringify(permissions);
  return [
    statement`DELETE FROM access_defaults WHERE account_id = ${accountId} AND ${given} = '[]'`,
    statement`INSERT INTO access_defaults (account_id, permissions) SELECT ${accountId}, ${given}
        WHERE ${given} <> '[]'
        ON CONFLICT (account_id) DO UPDATE SET permissions = excluded.permissions
          WHERE access_defaults.permissions <> excluded.permissions`,
  ];
};
