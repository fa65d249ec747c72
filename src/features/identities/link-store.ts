/** The only SQL about links of rooms and their guests. */
import { and, eq, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  FENCED,
  type Page,
  placeholdersOf,
  prepared,
  type Statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { BAN } from "../../wire/permissions.ts";
import { IS_LIVE } from "../rooms/table.ts";
import { type IdentityRow, type LinkRow, roomLinks } from "./table.ts";

const linkInsertion = prepared(() => build.insert(roomLinks).values(placeholdersOf(roomLinks)));

export const insertLink = (_: Tenant, row: LinkRow): Statement => linkInsertion(row);

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

/** A link with what decides whether it lets anyone in. */
export interface FoundLink {
  readonly id: string;
  readonly roomId: string;
  readonly permissions: string;
  readonly expiresAt: number | null;
  readonly accountEpoch: number;
  /** The room is open, and the link has not ended. */
  readonly isOpen: 0 | 1;
}

/** True of a link that lets guests in up to a time. The parameter is that time. */
const IS_OPEN = `(rooms.state = 'active' AND ${IS_LIVE} AND accounts.deleted_at IS NULL
  AND (room_links.expires_at IS NULL OR room_links.expires_at > ?))`;
const WITH_ROOM = `room_links
  JOIN rooms ON rooms.account_id = room_links.account_id AND rooms.id = room_links.room_id
  JOIN accounts ON accounts.id = room_links.account_id`;

export const selectLinkByHash = (
  { accountId }: Tenant,
  hash: string,
  until: number,
): Statement<FoundLink> => ({
  sql: `SELECT room_links.id, room_id AS roomId, permissions, expires_at AS expiresAt,
          accounts.token_epoch AS accountEpoch, ${IS_OPEN} AS isOpen
        FROM ${WITH_ROOM} WHERE room_links.account_id = ? AND secret_hash = ?`,
  params: [until, accountId, hash],
});

/** The constraint that {@link insertGuest} violates when the link has ended or is used up. */
export const LINK_CLOSED = "required:identities.name";

/** Creates a guest, or fails its batch: a receipt in it is of a guest who is in. */
export const insertGuest = ({ accountId }: Tenant, guest: IdentityRow, until: number): Statement => ({
  sql: `INSERT INTO identities (account_id, id, kind, name, name_folded, profile_picture, created_at, link_id)
        SELECT ?1, ?2, ?3, (
            SELECT ?4 FROM ${WITH_ROOM}
            WHERE room_links.account_id = ?1 AND room_links.id = ?8 AND ${IS_OPEN} AND uses < max_uses),
          ?5, ?6, ?7, ?8`,
  params: [
    ...[accountId, guest.id, guest.kind, guest.name, guest.nameFolded, guest.profilePicture],
    ...[guest.createdAt, guest.linkId, until],
  ],
});

/** Behind {@link insertGuest}: counts a use and gives the guest access. */
export const admitGuest = ({ accountId }: Tenant, guestId: string): readonly [Statement, Statement] => {
  const link = "room_links.account_id = identities.account_id AND room_links.id = identities.link_id";
  const params = [accountId, guestId];
  return [
    {
      sql: `UPDATE room_links SET uses = uses + 1
            FROM identities WHERE ${link} AND identities.account_id = ? AND identities.id = ?`,
      params,
    },
    {
      sql: `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
            SELECT room_links.account_id, room_links.room_id, 'identity', identities.id, room_links.permissions
            FROM identities JOIN room_links ON ${link} WHERE identities.account_id = ? AND identities.id = ?`,
      params,
    },
  ];
};

/** Ends a link that has not ended. Returns its ID. */
export const endLink = (
  { accountId }: Tenant,
  roomId: string,
  linkId: string,
  now: number,
): Statement<{ id: string }> => ({
  sql: `UPDATE room_links SET expires_at = ?1 WHERE account_id = ?2 AND room_id = ?3 AND id = ?4
          AND (expires_at IS NULL OR expires_at > ?1) RETURNING id`,
  params: [now, accountId, roomId, linkId],
});

/** The query of the IDs of an ended link's guests. */
export const endedGuests = ({ accountId }: Tenant, roomId: string, linkId: string, now: number) => ({
  sql: `SELECT identities.id FROM room_links CROSS JOIN identities
          ON identities.account_id = room_links.account_id AND identities.link_id = room_links.id
        WHERE room_links.account_id = ? AND room_links.room_id = ? AND room_links.id = ? AND room_links.expires_at <= ?`,
  params: [accountId, roomId, linkId, now],
});

/** The query of these IDs. */
export const idsOf = (ids: readonly string[]): Pick<Statement, "sql" | "params"> => ({
  sql: "SELECT value FROM json_each(?)",
  params: [JSON.stringify(ids)],
});

/** Bans these guests from the room: one statement for all, before they are deleted in chunks. */
export const banGuests = (
  { accountId }: Tenant,
  roomId: string,
  guests: Pick<Statement, "sql" | "params">,
): Statement => ({
  sql: `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
        SELECT ?, ?, 'identity', id, ? FROM (${guests.sql}) WHERE TRUE
        ON CONFLICT (account_id, room_id, kind, subject_id) DO UPDATE SET permissions = excluded.permissions`,
  params: [accountId, roomId, JSON.stringify([BAN]), ...guests.params],
});

export const selectGuests = (
  { accountId }: Tenant,
  linkId: string,
  limit: number,
): Statement<{ id: string }> => ({
  sql: "SELECT id FROM identities WHERE account_id = ? AND link_id = ? LIMIT ?",
  params: [accountId, linkId, limit],
});

/** Deletes an ended link without guests. */
export const deleteEmptyLink = ({ accountId }: Tenant, linkId: string): Statement<never> => ({
  sql: `DELETE FROM room_links WHERE account_id = ?1 AND id = ?2
          AND NOT EXISTS (SELECT 1 FROM identities WHERE account_id = ?1 AND link_id = ?2)`,
  params: [accountId, linkId],
});

/** Links of all organizations that have ended, each time others first. */
export const selectEndedLinks = (
  now: number,
  firstId: string,
  limit: number,
): Statement<{ accountId: string; id: string }> => ({
  sql: `SELECT account_id AS accountId, id FROM room_links
        WHERE expires_at <= ? AND account_id NOT IN ${FENCED} ORDER BY id < ?, id LIMIT ?`,
  params: [now, firstId, limit],
});
