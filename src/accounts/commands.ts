/** What can be done to an organization's API keys. */
import { type RequestContext, requireOwner } from "../context/context.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { fingerprintOf, createApiKey as newKey } from "./api-key.ts";
import { type ApiKey, type ApiKeyCreation, presentKey } from "./schema.ts";
import { deleteKey, insertKey } from "./store.ts";
import { evictKey } from "./verify-key.ts";

/** Makes a key. The answer is the only place where it is ever shown. */
export async function createApiKey(
  ctx: RequestContext,
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
  await ctx.commit([insertKey(ctx, row)], data);
  return data;
}

/**
 * Revokes a key, within 30 s everywhere. CONFLICT for the key that makes the request, so that an
 * organization cannot lock itself out: it makes another one first.
 */
export async function revokeApiKey(ctx: RequestContext, keyId: string): Promise<Record<string, never>> {
  requireOwner(ctx);
  if (ctx.actor.type === "key" && ctx.actor.keyId === keyId) {
    throw new AppError("Accounts", "CONFLICT", "A key cannot revoke itself; make another one and use that");
  }
  const [deleted] = await ctx.commit([deleteKey(ctx, keyId)]);
  const key = deleted[0];
  if (key === undefined) throw notFound("Accounts", "API key");
  evictKey(key.hash);
  return {};
}
