/** The commands on API keys. */
import { type RequestContext, requireOwner } from "../context/context.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { guardQuota, type QuotaContext } from "../quotas/guard.ts";
import { fingerprintOf, createApiKey as newKey } from "./api-key.ts";
import { type ApiKey, type ApiKeyCreation, presentKey } from "./schema.ts";
import { deleteKey, insertKey } from "./store.ts";
import { evictKey } from "./verify-key.ts";

/** Creates an API key. Only this response contains the key itself. FORBIDDEN beyond the quota. */
export async function createApiKey(
  ctx: RequestContext & QuotaContext,
  input: ApiKeyCreation,
): Promise<{ api_key: ApiKey; key: string }> {
  requireOwner(ctx);
  const key = newKey();
  const row = {
    ...(await fingerprintOf(key)),
    id: ctx.newId(),
    accountId: ctx.accountId,
    name: input.name,
    createdAt: ctx.now(),
    lastUsedAt: null,
  };
  const data = { api_key: presentKey(row), key };
  const quota = guardQuota(ctx, "api_keys");
  await ctx.commit([insertKey(ctx, row), quota.statement], data).catch(quota.refuse);
  return data;
}

/**
 * Revokes a key, within 10 s everywhere. CONFLICT for the key that makes the request, so that an organization
 * cannot lock itself out.
 */
export async function revokeApiKey(ctx: RequestContext, keyId: string): Promise<Record<string, never>> {
  requireOwner(ctx);
  if (ctx.actor.type === "key" && ctx.actor.keyId === keyId) {
    throw new AppError("Accounts", "CONFLICT", "An API key cannot revoke itself; use another key");
  }
  const [deleted] = await ctx.commit([deleteKey(ctx, keyId)]);
  const key = deleted[0];
  if (key === undefined) throw notFound("Accounts", "API key");
  evictKey(key.hash);
  return {};
}
