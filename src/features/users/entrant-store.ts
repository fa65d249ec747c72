/** The SQL of identities that join a room: it creates their users there, and renews the mark that they may be online. */
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { Entrant } from "../../room/host/room-service.ts";
import { accessAsJson, isGuestElsewhere } from "../access/statements.ts";
import { IS_LIVE, type RoomRow, rooms } from "../rooms/table.ts";
import { users } from "./table.ts";

/** An entrant, with the IDs of its user and of that user's creation, if it has none in the room yet. */
export interface NewEntrant extends Entrant {
  readonly userId: string;
  readonly eventId: string;
}

const entryOf = (kind: string, subjectId: string) =>
  `EXISTS (SELECT 1 FROM room_access WHERE account_id = rooms.account_id AND room_id = rooms.id
    AND kind = '${kind}' AND subject_id = ${subjectId}`;

/** Any permission lets an identity enter, unless it is banned. */
const MAY_ENTER = `NOT ${entryOf("identity", "identities.id")} AND permissions = '["none"]')
  AND (${entryOf("identity", "identities.id")}) OR ${entryOf("default", "''")}) OR EXISTS (
    SELECT 1 FROM group_members CROSS JOIN room_access
    WHERE group_members.account_id = rooms.account_id AND group_members.identity_id = identities.id
      AND room_access.account_id = rooms.account_id AND room_access.room_id = rooms.id
      AND room_access.kind = 'group' AND room_access.subject_id = group_members.group_id))`;

/** Creates the users of identities that may enter and have none in the room. They take the custom ID if it is free. */
export const insertEntrants = (
  { accountId }: Tenant,
  roomId: string,
  entrants: readonly NewEntrant[],
  now: number,
): Statement => ({
  sql: `INSERT INTO users (id, account_id, room_id, name, name_folded, profile_picture, custom_id, role, created_at, identity_id)
        SELECT entrants.value ->> 'userId', rooms.account_id, rooms.id, identities.name, identities.name_folded,
          identities.profile_picture,
          iif(EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id
            AND custom_id = identities.custom_id), NULL, identities.custom_id),
          'editor', max(?4, identities.created_at), identities.id
        FROM json_each(?3) AS entrants
          CROSS JOIN identities ON identities.account_id = ?1 AND identities.id = entrants.value ->> 'identityId'
          CROSS JOIN rooms ON rooms.account_id = ?1 AND rooms.id = ?2
          CROSS JOIN accounts ON accounts.id = ?1
        WHERE ${IS_LIVE} AND rooms.state = 'active'
          AND identities.token_epoch = entrants.value ->> 'identityEpoch'
          AND accounts.token_epoch = entrants.value ->> 'accountEpoch'
          AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = ?1 AND identity_id = identities.id AND room_id = ?2)
          AND NOT ${isGuestElsewhere("?1", "?2", "identities.id")} AND ${MAY_ENTER}
        ON CONFLICT DO NOTHING`,
  params: [accountId, roomId, JSON.stringify(entrants), now],
});

/** Counts those of these users who were created. */
export const countCreated = (
  { accountId }: Tenant,
  roomId: string,
  entrants: readonly NewEntrant[],
): Statement => ({
  sql: `UPDATE rooms SET total_users_created = total_users_created + created.count
        FROM (SELECT count(*) AS count FROM users WHERE id IN (SELECT value ->> 'userId' FROM json_each(?3))) AS created
        WHERE account_id = ?1 AND id = ?2 AND created.count > 0`,
  params: [accountId, roomId, JSON.stringify(entrants)],
});

const USER = rowAsJson(users, "users");
const ROOM = rowAsJson(rooms, "rooms");

/** `user.created` of those of these users who were created; the entry's ID counts for none. */
export const insertEntrantEvents = (
  tenant: Tenant,
  entry: EventEntry,
  entrants: readonly NewEntrant[],
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    id: "entrants.value ->> 'eventId'",
    from: `json_each(?) AS entrants CROSS JOIN users ON users.id = entrants.value ->> 'userId'
      CROSS JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id`,
    where: { sql: "users.account_id = ?", params: [JSON.stringify(entrants), tenant.accountId] },
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
): Statement<EntrantRow> => ({
  sql: `SELECT identities.id AS identityId, identities.token_epoch AS identityEpoch, accounts.token_epoch AS accountEpoch,
          iif(EXISTS (SELECT 1 FROM users WHERE account_id = ?1 AND identity_id = identities.id AND room_id = ?2),
            NULL, ${accessAsJson("?1", "?2", "identities.id")}) AS access
        FROM identities JOIN accounts ON accounts.id = identities.account_id
        WHERE identities.account_id = ?1 AND identities.id IN (SELECT value ->> 'identityId' FROM json_each(?3))`,
  params: [accountId, roomId, JSON.stringify(entrants)],
});

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
): Statement => ({
  sql: `UPDATE rooms SET joining_until = ?4 WHERE account_id = ?1 AND id = ?2 AND joining_until < ?5 AND ${IS_LIVE}
          AND (?3 IS NULL OR EXISTS (
            SELECT 1 FROM users WHERE id IN (SELECT value FROM json_each(?3)) AND identity_id IS NOT NULL))`,
  params: [accountId, roomId, userIds && JSON.stringify(userIds), now + JOINING_MS, now + JOINING_MS / 2],
});
