/** Reads identities, groups and their members. */

import { type AppError, notFound } from "@atrium/contract/errors.ts";
import {
  type Group,
  type Identity,
  presentGroup,
  presentIdentity,
} from "@atrium/contract/resources/identity.ts";
import { presentRoom } from "@atrium/contract/resources/room.ts";
import type { GroupMember, RoomOfIdentity } from "@atrium/contract/rest/identities.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { presentScroll } from "../../http/lists.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import { selectRoomsById } from "../rooms/statements.ts";
import { findHits } from "../search/queries.ts";
import { countMembers, GROUPS, memberPositionOf, selectGroupsOf, selectMembers } from "./group-store.ts";
import {
  countUsersOf,
  IDENTITIES,
  type Key,
  roomPositionOf,
  selectIdentities,
  selectUsersByRoom,
  selectUsersOf,
} from "./store.ts";

export const noIdentity = (): AppError => notFound("Identities", "Identity");
export const noGroup = (): AppError => notFound("Identities", "Group");

export async function findIdentity(tenant: Tenant, key: Key): Promise<Identity | null> {
  const [[row]] = await tenant.db.run([IDENTITIES.select(tenant, key)]);
  return row === undefined ? null : presentIdentity(row);
}

export async function getIdentity(tenant: Tenant, key: Key): Promise<{ identity: Identity }> {
  const identity = await findIdentity(tenant, key);
  if (identity === null) throw noIdentity();
  return { identity };
}

/** The page, with hits of the search index. */
async function searched({ db, accountId }: Tenant, of: "identities" | "groups", page: Page) {
  return { ...page, hits: await findHits(db, { accountId, of }, { text: page.search, withIds: true }) };
}

/** A page of identities; `kind` has the listed kinds, separated by commas. */
export async function listIdentities(tenant: Tenant, page: Page, kind?: string) {
  const kinds = kind === undefined ? null : JSON.stringify(kind.split(","));
  const found = { ...(await searched(tenant, "identities", page)), kinds };
  const [rows, counted] = await tenant.db.run([
    IDENTITIES.selectPage(tenant, found),
    IDENTITIES.count(tenant, found),
  ]);
  const shown = presentScroll(page, counted, rows, IDENTITIES.positionOf(page));
  return { identities: rows.map(presentIdentity), ...shown };
}

/** All groups of an identity, by name. */
export async function listGroupsOf(tenant: Tenant, identityId: string): Promise<{ groups: Group[] }> {
  const [[identity], rows] = await tenant.db.run([
    IDENTITIES.select(tenant, { id: identityId }),
    selectGroupsOf(tenant, identityId),
  ]);
  if (identity === undefined) throw noIdentity();
  return { groups: rows.map(presentGroup) };
}

export async function getGroup(tenant: Tenant, key: Key): Promise<{ group: Group }> {
  const [[row]] = await tenant.db.run([GROUPS.select(tenant, key)]);
  if (row === undefined) throw noGroup();
  return { group: presentGroup(row) };
}

export async function listGroups(tenant: Tenant, page: Page) {
  const found = await searched(tenant, "groups", page);
  const [rows, counted] = await tenant.db.run([
    GROUPS.selectPage(tenant, found),
    GROUPS.count(tenant, found),
  ]);
  return { groups: rows.map(presentGroup), ...presentScroll(page, counted, rows, GROUPS.positionOf(page)) };
}

/** A page of a group's members, those first who were added last. */
export async function listMembers(tenant: Tenant, groupId: string, page: Page) {
  const [[group], members, counted] = await tenant.db.run([
    GROUPS.select(tenant, { id: groupId }),
    selectMembers(tenant, groupId, page),
    countMembers(tenant, groupId, page),
  ]);
  if (group === undefined) throw noGroup();
  const ids = members.map(({ identityId }) => identityId);
  const [rows] = await tenant.db.run([selectIdentities(tenant, ids)]);
  const byId = new Map(rows.map((row) => [row.id, presentIdentity(row)]));
  const shown = members.flatMap(({ identityId, addedAt }): GroupMember[] => {
    const identity = byId.get(identityId);
    return identity === undefined ? [] : [{ identity, added_at: presentTime(addedAt) }];
  });
  return { members: shown, ...presentScroll(page, counted, members, memberPositionOf(page)) };
}

/** Some users of an identity, deleted or not, by room, from `roomId` on or behind it. */
export async function findUsersOf(
  tenant: Tenant,
  identityId: string,
  roomId: string,
  limit: number,
  withRoom = false,
) {
  const [users] = await tenant.db.run([selectUsersByRoom(tenant, identityId, roomId, limit, withRoom)]);
  return users;
}

/** A page of the rooms in which an identity has a user, those first where it came last. */
export async function listRoomsOf(tenant: Tenant, identityId: string, page: Page, now: number) {
  const [[identity], found, counted] = await tenant.db.run([
    IDENTITIES.select(tenant, { id: identityId }),
    selectUsersOf(tenant, identityId, page),
    countUsersOf(tenant, identityId, page),
  ]);
  if (identity === undefined) throw noIdentity();
  const [rows] = await tenant.db.run([
    selectRoomsById(
      tenant,
      found.map(({ roomId }) => roomId),
    ),
  ]);
  const byId = new Map(rows.map((row) => [row.id, presentRoom(row, now)]));
  const rooms = found.flatMap(({ id, roomId }): RoomOfIdentity[] => {
    const room = byId.get(roomId);
    return room === undefined ? [] : [{ room, user_id: id }];
  });
  return { rooms, ...presentScroll(page, counted, found, roomPositionOf(page)) };
}
