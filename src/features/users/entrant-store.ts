/** The SQL of identities that join a room: it creates their users there, and renews the mark that they may be online. */
import { sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import { type OutboxEventRow, outbox } from "../../delivery/outbox/table.ts";
import { listed, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Entrant } from "../../room/host/room-service.ts";
import { accessAsJson, isGuestElsewhere } from "../access/statements.ts";
import { IS_LIVE, type RoomRow, rooms } from "../rooms/table.ts";
import { users } from "./table.ts";

/** An entrant, with the IDs of its user and of that user's creation, if it has none in the room yet. */
export interface NewEntrant extends Entrant {
  readonly userId: string;
  readonly eventId: string;
}

const OWN = sql`SELECT 1 FROM room_access WHERE account_id = rooms.account_id AND room_id = rooms.id
    AND kind = 'identity' AND subject_id = identities.id`;

/** Any permission lets an identity enter, unless it is banned. */
const MAY_ENTER = sql`NOT EXISTS (${OWN} AND permissions = '["none"]')
    AND (EXISTS (${OWN}) OR EXISTS (SELECT 1 FROM room_access
      WHERE account_id = rooms.account_id AND room_id = rooms.id
      AND kind = 'default' AND subject_id = '') OR EXISTS (
      SELECT 1 FROM group_members CROSS JOIN room_access
      WHERE group_members.account_id = rooms.account_id AND group_members.identity_id = identities.id
        AND room_access.account_id = rooms.account_id AND room_access.room_id = rooms.id
        AND room_access.kind = 'group' AND room_access.subject_id = group_members.group_id))`;

/**
 * Creates the users of identities that may enter and have none in the room, as far as the room's own limit of users has
 * places: the first ones. They take the custom ID if it is free.
 */
export const insertEntrants = (
  { accountId }: Tenant,
  roomId: string,
  entrants: readonly NewEntrant[],
  now: number,
): Statement => statement`INSERT INTO users (id, account_id, room_id, name, name_folded, profile_picture,
      custom_id, role, created_at, identity_id, kind)
    SELECT entrants.value ->> 'userId', rooms.account_id, rooms.id, identities.name, identities.name_folded,
      identities.profile_picture,
      iif(EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id
        AND custom_id = identities.custom_id), NULL, identities.custom_id),
      'editor', max(${now}, identities.created_at), identities.id, nullif(identities.kind, 'person')
    FROM json_each(${JSON.stringify(entrants)}) AS entrants
      CROSS JOIN identities ON identities.account_id = ${accountId}
        AND identities.id = entrants.value ->> 'identityId'
      CROSS JOIN rooms ON rooms.account_id = ${accountId} AND rooms.id = ${roomId}
      CROSS JOIN accounts ON accounts.id = ${accountId}
    WHERE ${IS_LIVE} AND rooms.state = 'active'
      AND identities.token_epoch = entrants.value ->> 'identityEpoch'
      AND accounts.token_epoch = entrants.value ->> 'accountEpoch'
      AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = ${accountId} AND identity_id = identities.id
        AND room_id = ${roomId})
      AND NOT ${isGuestElsewhere(accountId, roomId, sql`identities.id`)} AND ${MAY_ENTER}
    LIMIT coalesce((SELECT max(0, (limits ->> 'users') - user_count) FROM rooms
      WHERE account_id = ${accountId} AND id = ${roomId}), -1)
    ON CONFLICT DO NOTHING`;

/** Counts those of these users who were created. */
export const countCreated = (
  { accountId }: Tenant,
  roomId: string,
  entrants: readonly NewEntrant[],
): Statement => statement`UPDATE rooms SET total_users_created = total_users_created + created.count
    FROM (SELECT count(*) AS count FROM users WHERE id IN (SELECT value ->> 'userId'
      FROM json_each(${JSON.stringify(entrants)}))) AS created
    WHERE account_id = ${accountId} AND id = ${roomId} AND created.count > 0`;

const USER = rowAsJson(users, "users");
const ROOM = rowAsJson(rooms, "rooms");

/** `user.created` of those of these users who were created; the entry's ID counts for none. */
export const insertEntrantEvents = (
  tenant: Tenant,
  entry: EventEntry,
  entrants: readonly NewEntrant[],
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    id: sql`entrants.value ->> 'eventId'`,
    from: sql`json_each(${JSON.stringify(entrants)}) AS entrants
        CROSS JOIN users ON users.id = entrants.value ->> 'userId'
        CROSS JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id`,
    where: sql`users.account_id = ${tenant.accountId}`,
    room: ROOM,
    subject: USER,
  });

/** An identity that joins, and what decides whether it may. */
export interface EntrantRow extends Entrant {
  /** As JSON; null for one that has a user in the room. */
  readonly access: string | null;
}

export const selectEntrants = (
  { accountId }: Tenant,
  roomId: string,
  entrants: readonly Entrant[],
): Statement<EntrantRow> => statement`SELECT identities.id AS identityId,
      identities.token_epoch AS identityEpoch, accounts.token_epoch AS accountEpoch,
      iif(EXISTS (SELECT 1 FROM users WHERE account_id = ${accountId} AND identity_id = identities.id
        AND room_id = ${roomId}),
        NULL, ${accessAsJson(accountId, roomId, sql`identities.id`)}) AS access
    FROM identities JOIN accounts ON accounts.id = identities.account_id
    WHERE identities.account_id = ${accountId} AND identities.id IN (SELECT value ->> 'identityId'
      FROM json_each(${JSON.stringify(entrants)}))`;

/** The room's stats reach the database seconds after a join, so a join of an identity marks the room for so long before. */
const JOINING_MS = 10 * 60_000;

/** Whether {@link markJoining} would write. */
export const lacksMark = (
  { activeParticipants, joiningUntil }: Pick<RoomRow, "activeParticipants" | "joiningUntil">,
  now: number,
): boolean => activeParticipants === 0 && joiningUntil < now + JOINING_MS / 2;

/** Marks the room if one of these users belongs to an identity, or anyway with null. Half of the time, the mark stays. */
export const markJoining = (
  { accountId }: Tenant,
  roomId: string,
  userIds: readonly string[] | null,
  now: number,
): Statement => {
  const isOfIdentity =
    userIds === null
      ? sql`TRUE`
      : sql`EXISTS (SELECT 1 FROM users WHERE id IN ${listed(userIds)} AND identity_id IS NOT NULL)`;
  return statement`UPDATE rooms SET joining_until = ${now + JOINING_MS}
      WHERE account_id = ${accountId} AND id = ${roomId} AND joining_until < ${now + JOINING_MS / 2} AND ${IS_LIVE}
        AND ${isOfIdentity}`;
};

/**
 * The organization's token epoch, if no command waits for the room. No row while one does, while one for all rooms is
 * not written for each of them yet, and for a room that changes of access are not sent to.
 */
export const selectEpochIfCurrent = (
  { accountId }: Tenant,
  roomId: string,
  now: number,
): Statement<{ tokenEpoch: number }> => statement`SELECT accounts.token_epoch AS tokenEpoch
    FROM rooms JOIN accounts ON accounts.id = rooms.account_id
    WHERE rooms.account_id = ${accountId} AND rooms.id = ${roomId} AND ${IS_LIVE}
      AND (active_participants > 0 OR joining_until > ${now})
      AND NOT EXISTS (SELECT 1 FROM ${outbox} WHERE account_id = rooms.account_id
        AND (room_id = rooms.id OR json_extract(change, '$.behind') IS NOT NULL))`;
