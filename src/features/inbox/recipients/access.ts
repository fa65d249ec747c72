/** The items of an inbox that are shown now: those of rooms that the identity may enter, within the narrowing of a token. */

import { defaultsFor, type NotificationDefaults } from "@atrium/contract/resources/notification-settings.ts";
import type { Tenant } from "../../../platform/d1/d1.ts";
import { opensRoom } from "../../../platform/narrowing.ts";
import { beingRestored, type IdentityClaims, RESTORING_EPOCH } from "../../../platform/token-claims.ts";
import { selectOpenRooms } from "../../access/statements.ts";
import {
  defaultsIn,
  type IdentityEpochs,
  selectDefaults,
  selectEpochs,
  selectReachability,
} from "./store.ts";

export interface InboxAccess {
  /** Null when the identity does not exist. */
  readonly epochs: IdentityEpochs | null;
  /** The rooms that it may enter, by their IDs. */
  readonly rooms: ReadonlyMap<string, { readonly id: string; readonly customId: string | null }>;
}

/** The identity as channels need it, as it is now. */
export interface Recipient extends InboxAccess {
  /** Null without an address, and without the identity. */
  readonly email: string | null;
  readonly defaults: NotificationDefaults;
}

/** The identity whose inbox is shown, and the rooms that the token opens; absent for all, and for the organization. */
export type InboxCaller = Pick<IdentityClaims, "identityId" | "rooms">;

/** Reads the access to rooms as it is now, in one round trip. */
export async function readInboxAccess(
  tenant: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Promise<InboxAccess> {
  const [[epochs], rooms] = await tenant.db.run([
    selectEpochs(tenant, identityId),
    selectOpenRooms(tenant, identityId, roomIds),
  ]);
  return { epochs: epochs ?? null, rooms: new Map(rooms.map((room) => [room.id, room])) };
}

/** Reads what decides whether notifications are sent: access, address and defaults, in one round trip. Rejects while the organization is being restored. */
export async function readRecipient(
  tenant: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Promise<Recipient> {
  const [access, [[identity], [defaults]]] = await Promise.all([
    readInboxAccess(tenant, identityId, roomIds),
    tenant.db.run([selectReachability(tenant, identityId), selectDefaults(tenant)]),
  ]);
  if (access.epochs?.account === RESTORING_EPOCH) throw beingRestored();
  const ofOrganization = defaultsIn(defaults);
  return {
    ...access,
    email: identity?.email ?? null,
    defaults: identity === undefined ? ofOrganization : defaultsFor(identity, ofOrganization),
  };
}

/** The rooms whose items are shown; an empty ID stands for none, which a token for certain rooms does not open. */
export const visibleRooms = ({ rooms }: InboxAccess, caller: Pick<InboxCaller, "rooms">): string[] => [
  ...(caller.rooms === undefined ? [""] : []),
  ...[...rooms.values()].filter((room) => opensRoom(caller, room)).map(({ id }) => id),
];
