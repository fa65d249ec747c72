/** The only SQL about API keys. */
import { and, count, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { shortListOrder } from "../platform/ordering.ts";
import { prepared } from "../platform/prepared-statement.ts";
import { type ApiKeyRow, apiKeys } from "./table.ts";

const keyByHash = prepared(() =>
  build
    .select({
      ...columnsOf(apiKeys),
      accountTokenEpoch:
        sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = api_keys.account_id)`.as(
          "accountTokenEpoch",
        ),
    })
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder("hash")))
    .limit(1),
);

/** Across organizations: the key determines the organization, whose token epoch says whether it is being restored. */
export const selectKeyByHash = (hash: string): Statement<ApiKeyRow & { accountTokenEpoch: number }> =>
  keyByHash({ hash });

const ofAccount = ({ accountId }: Tenant) => eq(apiKeys.accountId, accountId);
const whereIs = (tenant: Tenant, keyId: string) => and(ofAccount(tenant), eq(apiKeys.id, keyId));

const keyOrder = shortListOrder({
  newest: sql`${apiKeys.createdAt}`,
  name: sql`${apiKeys.name} COLLATE NOCASE`,
  last_used_at: sql`${apiKeys.lastUsedAt}`,
  id: sql`${apiKeys.id}`,
});

export const selectKeys = (tenant: Tenant, page: Page): Statement<ApiKeyRow> =>
  statement(
    build
      .select(columnsOf(apiKeys))
      .from(apiKeys)
      .where(ofAccount(tenant))
      .orderBy(...keyOrder(page))
      .limit(page.limit)
      .offset(page.offset),
  );

export const countKeys = (tenant: Tenant): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(apiKeys)
      .where(ofAccount(tenant)),
  );

export const insertKey = (_: Tenant, row: ApiKeyRow): Statement =>
  statement(build.insert(apiKeys).values(row));

export const updateLastUsed = (tenant: Tenant, keyId: string, lastUsedAt: number): Statement =>
  statement(build.update(apiKeys).set({ lastUsedAt }).where(whereIs(tenant, keyId)));

export const deleteKey = (tenant: Tenant, keyId: string): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(whereIs(tenant, keyId)).returning({ hash: apiKeys.hash }));
