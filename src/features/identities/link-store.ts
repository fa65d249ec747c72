/** The only SQL about links of rooms and their guests. */

import { BAN } from "@atrium/contract/resources/permissions.ts";
import { and, eq, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  FENCED,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { roomIdOf } from "../rooms/statements.ts";
import { IS_LIVE } from "../rooms/table.ts";
import { type IdentityRow, type LinkRow, roomLinks } from "./table.ts";

/** Violates `required:room_links.room_id` when there is no such room, or when it was deleted. */
export const insertLink = ({ accountId }: Tenant, row: LinkRow): Statement => {
  const roomId = sql<string>`${roomIdOf(accountId, row.roomId)}`;
  return statement(build.insert(roomLinks).values({ ...row, roomId }));
};

const order = ordering({ table: roomLinks, by: { created_at: "createdAt" }, time: "createdAt", id: "id" });
const listed = and(
  eq(roomLinks.accountId, sql.placeholder("accountId")),
  eq(roomLinks.roomId, sql.placeholder("roomId")),
  sql`(${roomLinks.expiresAt} IS NULL OR ${roomLinks.expiresAt} > ${sql.placeholder("now")})`,
);
const linkPage = order.pages(columnsOf(roomLinks), (_: "all", placed) => and(listed, placed));
const linkCount = order.counts((_: "all", placed) => and(listed, placed));

export const linkPositionOf = order.positionOf;

/** The links of a room that have not ended. */
export const selectLinks = (
  { accountId }: Tenant,
  roomId: string,
  page: Page,
  now: number,
): Statement<LinkRow> => linkPage("all", page, { accountId, roomId, now });

export const countLinks = ({ accountId }: Tenant, roomId: string, page: Page, now: number) =>
  countOnce(page, () => linkCount("all", page, { accountId, roomId, now }));

/** A link with the facts that decide whether it admits guests. */
export interface FoundLink {
  readonly id: string;
  readonly roomId: string;
  readonly permissions: string;
  readonly expiresAt: number | null;
  readonly accountEpoch: number;
  /** The room is open, and the link has not ended. */
  readonly isOpen: 0 | 1;
}

/** True of a link that lets guests in up to a time (epoch ms). */
const isOpenUntil = (time: number): SQL =>
  sql`(rooms.state = 'active' AND ${IS_LIVE} AND accounts.deleted_at IS NULL
      AND (room_links.expires_at IS NULL OR room_links.expires_at > ${time}))`;
const WITH_ROOM = sql`room_links
    JOIN rooms ON rooms.account_id = room_links.account_id AND rooms.id = room_links.room_id
    JOIN accounts ON accounts.id = room_links.account_id`;

export const selectLinkByHash = ({ accountId }: Tenant, hash: string, until: number): Statement<FoundLink> =>
  statement`SELECT room_links.id, room_id AS roomId, permissions, expires_at AS expiresAt,
        accounts.token_epoch AS accountEpoch, ${isOpenUntil(until)} AS isOpen
      FROM ${WITH_ROOM} WHERE room_links.account_id = ${accountId} AND secret_hash = ${hash}`;

/** The constraint that {@link insertGuest} violates when the link has ended or is used up. */
export const LINK_CLOSED = "required:identities.name";

/** Creates a guest, or fails its batch, so that a receipt in it is always of an admitted guest. */
export const insertGuest = ({ accountId }: Tenant, guest: IdentityRow, until: number): Statement => {
  const name = sql`(SELECT ${guest.name} FROM ${WITH_ROOM} WHERE room_links.account_id = ${accountId}
      AND room_links.id = ${guest.linkId} AND ${isOpenUntil(until)} AND uses < max_uses)`;
  return statement`INSERT INTO identities (account_id, id, kind, name, name_folded, profile_picture, created_at,
      link_id)
      SELECT ${accountId}, ${guest.id}, ${guest.kind}, ${name}, ${guest.nameFolded}, ${guest.profilePicture},
        ${guest.createdAt}, ${guest.linkId}`;
};

/** Counts a use and gives the guest access. Goes behind {@link insertGuest}. */
export const admitGuest = ({ accountId }: Tenant, guestId: string): readonly [Statement, Statement] => {
  const isItsLink = sql`room_links.account_id = identities.account_id AND room_links.id = identities.link_id`;
  const isGuest = sql`identities.account_id = ${accountId} AND identities.id = ${guestId}`;
  return [
    statement`UPDATE room_links SET uses = uses + 1 FROM identities WHERE ${isItsLink} AND ${isGuest}`,
    statement`INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
        SELECT room_links.account_id, room_links.room_id, 'identity', identities.id, room_links.permissions
        FROM identities JOIN room_links ON ${isItsLink} WHERE ${isGuest}`,
  ];
};

/** Ends a link that has not ended. Returns its ID. */
export const endLink = (
  { accountId }: Tenant,
  roomId: string,
  linkId: string,
  now: number,
): Statement<{ id: string }> => statement`UPDATE room_links SET expires_at = ${now}
    WHERE account_id = ${accountId} AND room_id = ${roomId} AND id = ${linkId}
    AND (expires_at IS NULL OR expires_at > ${now}) RETURNING id`;

/** The query of the IDs of an ended link's guests. */
export const endedGuests = (
  { accountId }: Tenant,
  roomId: string,
  linkId: string,
  now: number,
): SQL => sql`SELECT identities.id FROM room_links CROSS JOIN identities
      ON identities.account_id = room_links.account_id AND identities.link_id = room_links.id
    WHERE room_links.account_id = ${accountId} AND room_links.room_id = ${roomId} AND room_links.id = ${linkId}
      AND room_links.expires_at <= ${now}`;

/** The query of these IDs. */
export const idsOf = (ids: readonly string[]): SQL =>
  sql`SELECT value FROM json_each(${JSON.stringify(ids)})`;

/** Bans these guests from the room: one statement for all, before they are deleted in chunks. */
export const banGuests = (
  { accountId }: Tenant,
  roomId: string,
  guests: SQL,
): Statement => statement`INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
    SELECT ${accountId}, ${roomId}, 'identity', id, ${JSON.stringify([BAN])} FROM (${guests}) WHERE TRUE
    ON CONFLICT (account_id, room_id, kind, subject_id) DO UPDATE SET permissions = excluded.permissions`;

export const selectGuests = (
  { accountId }: Tenant,
  linkId: string,
  limit: number,
): Statement<{ id: string }> =>
  statement`SELECT id FROM identities WHERE account_id = ${accountId} AND link_id = ${linkId} LIMIT ${limit}`;

/** Deletes links that ended until `now` (epoch ms) and have no guests, of all organizations, and returns a row for each. */
export const deleteEndedLinks = (now: number, limit: number): Statement<{ deleted: number }> =>
  statement`DELETE FROM room_links WHERE rowid IN (
      SELECT rowid FROM room_links WHERE expires_at <= ${now} AND account_id NOT IN ${FENCED} AND NOT EXISTS (
        SELECT 1 FROM identities WHERE account_id = room_links.account_id AND link_id = room_links.id)
      LIMIT ${limit}) RETURNING 1 AS deleted`;

/** Deletes an ended link without guests. */
export const deleteEmptyLink = (
  { accountId }: Tenant,
  linkId: string,
): Statement<never> => statement`DELETE FROM room_links WHERE account_id = ${accountId} AND id = ${linkId}
    AND NOT EXISTS (SELECT 1 FROM identities WHERE account_id = ${accountId} AND link_id = ${linkId})`;

/** Links of all organizations that have ended, each time others first. */
export const selectEndedLinks = (
  now: number,
  firstId: string,
  limit: number,
): Statement<{ accountId: string; id: string }> => statement`SELECT account_id AS accountId, id
    FROM room_links
    WHERE expires_at <= ${now} AND account_id NOT IN ${FENCED} ORDER BY id < ${firstId}, id LIMIT ${limit}`;
