/** The items of an inbox that are shown now: those of rooms that the identity may enter, within the narrowing of a token. */
import type { Tenant } from "../../platform/d1/d1.ts";
import { type IdentityClaims, opensRoom } from "../../wire/token-claims.ts";
import { rightsIn } from "../access/statements.ts";
import { type IdentityEpochs, selectAccessToRooms, selectEpochs } from "./store.ts";

export interface InboxAccess {
  /** Null when the identity does not exist. */
  readonly epochs: IdentityEpochs | null;
  /** The rooms that it may enter, by their IDs. */
  readonly rooms: ReadonlyMap<string, { readonly id: string; readonly customId: string | null }>;
}

/** The rooms that a token opens; absent for all, and for the organization. */
export type Viewer = Pick<IdentityClaims, "rooms">;

/** Reads the access to rooms as it is now, in one round trip. */
export async function readInboxAccess(
  tenant: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Promise<InboxAccess> {
  const [[epochs], rooms] = await tenant.db.run([
    selectEpochs(tenant, identityId),
    selectAccessToRooms(tenant, identityId, roomIds),
  ]);
  const open = rooms.filter(({ access }) => rightsIn(access) !== 0);
  return { epochs: epochs ?? null, rooms: new Map(open.map((room) => [room.id, room])) };
}

/** The rooms whose items are shown; an empty ID stands for none, which a token for certain rooms does not open. */
export const visibleRooms = ({ rooms }: InboxAccess, viewer: Viewer): string[] => [
  ...(viewer.rooms === undefined ? [""] : []),
  ...[...rooms.values()].filter((room) => opensRoom(viewer, room)).map(({ id }) => id),
];
