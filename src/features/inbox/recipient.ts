/** Reads what decides whether notifications are sent to an identity: its access, its address, and the defaults. */
import type { Tenant } from "../../platform/d1/d1.ts";
import { beingRestored, RESTORING_EPOCH } from "../../wire/token-claims.ts";
import { defaultsIn, selectDefaults } from "../notifications/statements.ts";
import { readInboxAccess } from "./access.ts";
import type { Recipient } from "./channels.ts";
import { selectEmail } from "./store.ts";

/** As it is now, in one round trip. Rejects while the organization is being restored. */
export async function readRecipient(
  tenant: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Promise<Recipient> {
  const [access, [[identity], [defaults]]] = await Promise.all([
    readInboxAccess(tenant, identityId, roomIds),
    tenant.db.run([selectEmail(tenant, identityId), selectDefaults(tenant)]),
  ]);
  if (access.epochs?.account === RESTORING_EPOCH) throw beingRestored();
  return { ...access, email: identity?.email ?? null, defaults: defaultsIn(defaults) };
}
