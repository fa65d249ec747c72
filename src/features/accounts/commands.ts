/** The commands on API keys. */
import { type RequestContext, requireOwner } from "../../platform/d1/context.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { guardQuota, type QuotaContext } from "../quotas/guard.ts";
import { fingerprintOf, createApiKey as newKey } from "./api-key.ts";
import { type ApiKeyCreation, presentKey } from "./schema.ts";
import { deleteInvitationsOfEndedKeys, deleteKeys, insertKey, keepKey } from "./store.ts";
import { evictKey } from "./verify-key.ts";

function refuseDeleted(error: unknown): never {
  throw violatedConstraint(error) === "required:api_keys.account_id"
    ? notFound("Accounts", "Organization")
    : error;
}

/** Creates an API key, which only this response contains. FORBIDDEN beyond the quota, NOT_FOUND once deleted. */
export async function createApiKey(ctx: RequestContext & QuotaContext, input: ApiKeyCreation) {
  requireOwner(ctx);
  const key = newKey();
  const row = {
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
  requireOwner(ctx);
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
