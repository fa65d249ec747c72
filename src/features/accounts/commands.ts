/** The commands on API keys. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { ApiKeyCreation } from "@atrium/contract/rest/api-keys.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { idsIn, isNarrowed, roomNamesOf, storedNarrowing } from "../../platform/narrowing.ts";
import { guardQuota, type QuotaContext } from "../quotas/guard.ts";
import { selectRoomsById } from "../rooms/statements.ts";
import { fingerprintOf, NARROWED_PREFIX, createApiKey as newKey } from "./api-key.ts";
import { presentKey } from "./present.ts";
import { deleteInvitationsOfEndedKeys, deleteKeys, insertKey, keepKey } from "./store.ts";
import { evictKey } from "./verify-key.ts";

export interface KeyContext extends RequestContext, QuotaContext {
  openTenant(accountId: string): Tenant;
}

function refuseDeleted(error: unknown): never {
  throw violatedConstraint(error) === "required:api_keys.account_id"
    ? notFound("Accounts", "Organization")
    : error;
}

/** The rooms are in the organization's own database, and keys in the directory. */
const readRooms = ({ accountId, openTenant }: KeyContext, ids: readonly string[]) => {
  const tenant = openTenant(accountId);
  return tenant.db.run([selectRoomsById(tenant, ids)]);
};

/** Creates an API key, which only this response contains. FORBIDDEN beyond the quota, NOT_FOUND once deleted. */
export async function createApiKey(ctx: KeyContext, input: ApiKeyCreation) {
  const ids = idsIn(input.rooms ?? []);
  const [found] = ids.length === 0 ? [[]] : await readRooms(ctx, ids);
  const narrowing = { permissions: input.permissions, rooms: roomNamesOf(input.rooms, found) };
  const key = newKey(undefined, isNarrowed(narrowing) ? NARROWED_PREFIX : undefined);
  const row = {
    ...storedNarrowing(narrowing),
    ...(await fingerprintOf(key)),
    id: ctx.newId(),
    accountId: ctx.accountId,
    name: input.name,
    createdAt: ctx.now(),
    lastUsedAt: null,
    createdByKey: ctx.actor.type === "key" ? ctx.actor.keyId : null,
  };
  const data = { api_key: presentKey(row), key };
  const quota = guardQuota(ctx, "api_keys");
  await ctx
    .commit([insertKey(ctx, row), quota.statement], data)
    .catch(quota.refuse)
    .catch(refuseDeleted);
  return data;
}

/**
 * Revokes a key and the keys, invitations and password links that it made, within 10 s everywhere. The key that makes the
 * request stays, even if the revoked one made it, and gets CONFLICT for itself: an organization cannot lock itself out.
 */
export async function revokeApiKey(ctx: RequestContext, keyId: string) {
  const own = ctx.actor.type === "key" ? ctx.actor.keyId : null;
  if (own === keyId) {
    throw new AppError("Accounts", "CONFLICT", "An API key cannot revoke itself; use another key");
  }
  const [deleted] = await ctx.commit([
    deleteKeys(ctx, keyId, own),
    keepKey(ctx, own),
    deleteInvitationsOfEndedKeys(ctx),
  ]);
  if (deleted.length === 0) throw notFound("Accounts", "API key");
  for (const { hash } of deleted) evictKey(hash);
  return {};
}
