/** Reads the access to a room. */

import { notFound } from "@atrium/contract/errors.ts";
import { decideAccess, type Permission } from "@atrium/contract/resources/permissions.ts";
import {
  type AccessDecision,
  type AccessEntry,
  presentDecision,
  type RoomAccess,
} from "@atrium/contract/rest/access.ts";
import { type PresentedScroll, presentScroll } from "../../http/lists.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import { selectRoom } from "../rooms/statements.ts";
import { parseAccess } from "./statements.ts";
import {
  countEntries,
  type EntryRow,
  positionOf,
  selectAccessOf,
  selectDefault,
  selectDefaultOfNew,
  selectEntriesOf,
  selectPage,
} from "./store.ts";

const permissionsIn = (row: { readonly permissions: string } | undefined): Permission[] =>
  row === undefined ? [] : JSON.parse(row.permissions);

const presentEntry = ({ subjectId, name, customId, permissions }: EntryRow): AccessEntry => ({
  id: subjectId,
  name: name ?? "",
  ...(customId === null ? {} : { custom_id: customId }),
  permissions: JSON.parse(permissions),
});

export const presentAccess = (rows: readonly EntryRow[]): RoomAccess => {
  const of = (kind: EntryRow["kind"]) => rows.filter((row) => row.kind === kind);
  return {
    default_accesses: permissionsIn(of("default")[0]),
    groups_accesses: of("group").map(presentEntry),
    identities_accesses: of("identity").map(presentEntry),
  };
};

/** The default of a room, and a page of its entries, groups before identities. NOT_FOUND without the room. */
export async function getRoomAccess(
  tenant: Tenant,
  roomId: string,
  page: Page,
): Promise<RoomAccess & PresentedScroll> {
  const [[room], [byDefault], rows, counted] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectDefault(tenant, roomId),
    selectPage(tenant, roomId, page),
    countEntries(tenant, roomId, page),
  ]);
  if (room === undefined) throw notFound("Rooms", "Room");
  return {
    ...presentAccess(rows),
    default_accesses: permissionsIn(byDefault),
    ...presentScroll(page, counted, rows, positionOf),
  };
}

/** Some of an identity's own entries, by room, behind the room `after`. */
export async function findEntriesOf(tenant: Tenant, identityId: string, after: string, limit: number) {
  const [rows] = await tenant.db.run([selectEntriesOf(tenant, identityId, after, limit)]);
  return rows.map(({ roomId, permissions }) => ({
    roomId,
    permissions: JSON.parse(permissions) as string[],
  }));
}

/** The permissions of an identity in a room by its access, and their sources. One round trip. NOT_FOUND without the room or the identity. */
export async function checkRoomAccess(
  tenant: Tenant,
  roomId: string,
  identityId: string,
): Promise<AccessDecision> {
  const [[room], [identity]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectAccessOf(tenant, roomId, identityId),
  ]);
  if (room === undefined) throw notFound("Rooms", "Room");
  if (identity === undefined) throw notFound("Identities", "Identity");
  const access = parseAccess(identity.access);
  return presentDecision(decideAccess(access), access.groupIds);
}

/** The default access of new rooms. */
export async function getDefaultAccess(tenant: Tenant): Promise<Pick<RoomAccess, "default_accesses">> {
  const [[row]] = await tenant.db.run([selectDefaultOfNew(tenant)]);
  return { default_accesses: permissionsIn(row) };
}
