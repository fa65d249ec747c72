/** The only SQL about organizations and their API keys. */
import { and, count, eq, sql } from "drizzle-orm";
import type { Database, Page, Tenant } from "../database.ts";
import { type ApiKeyRow, apiKeys } from "./table.ts";

/** Across organizations, because it is what tells which organization asks. */
export const selectKeyByHash = (db: Database, hash: string) =>
  db.select().from(apiKeys).where(eq(apiKeys.hash, hash)).limit(1);

const matches = (tenant: Tenant, keyId: string) =>
  and(eq(apiKeys.accountId, tenant.accountId), eq(apiKeys.id, keyId));

export const selectKeys = (tenant: Tenant, page: Page) =>
  tenant.db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.accountId, tenant.accountId))
    .orderBy(sql`${apiKeys.createdAt} DESC`, sql`${apiKeys.id} DESC`)
    .limit(page.limit)
    .offset(page.offset);

export const countKeys = (tenant: Tenant) =>
  tenant.db.select({ total: count() }).from(apiKeys).where(eq(apiKeys.accountId, tenant.accountId));

export const insertKey = (tenant: Tenant, row: ApiKeyRow) => tenant.db.insert(apiKeys).values(row);

export const updateLastUsed = (tenant: Tenant, keyId: string, lastUsedAt: number) =>
  tenant.db.update(apiKeys).set({ lastUsedAt }).where(matches(tenant, keyId));

export const deleteKey = (tenant: Tenant, keyId: string) =>
  tenant.db.delete(apiKeys).where(matches(tenant, keyId)).returning({ hash: apiKeys.hash });
