/** The only SQL about API keys. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { countOnce, ordering, pageValues } from "../platform/ordering.ts";
import { prepared, preparedByShape } from "../platform/prepared-statement.ts";
import { countUsed } from "../quotas/shared-store.ts";
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

const order = ordering({
  table: apiKeys,
  by: { created_at: "createdAt", name: "name", last_used_at: "lastUsedAt" },
  time: "createdAt",
  id: "id",
  ignoringCase: ["name"],
});

/** Where a page of {@link selectKeys} ends that has this key last. */
export const positionOf = order.positionOf;

const keyPage = preparedByShape((ordered: string) =>
  build
    .select(columnsOf(apiKeys))
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, sql.placeholder("accountId")), order.where(ordered)))
    .orderBy(...order.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectKeys = ({ accountId }: Tenant, page: Page): Statement<ApiKeyRow> =>
  keyPage(order.shapeOf(page), { accountId, ...pageValues(page) });

/** Counts the keys on all pages of {@link selectKeys}. */
export const countKeys = (tenant: Tenant, page: Page): Statement<{ total: number }> =>
  countOnce(page, () => countUsed(tenant, "api_keys"));

export const insertKey = (_: Tenant, row: ApiKeyRow): Statement =>
  statement(build.insert(apiKeys).values(row));

export const updateLastUsed = (tenant: Tenant, keyId: string, lastUsedAt: number): Statement =>
  statement(build.update(apiKeys).set({ lastUsedAt }).where(whereIs(tenant, keyId)));

export const deleteKey = (tenant: Tenant, keyId: string): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(whereIs(tenant, keyId)).returning({ hash: apiKeys.hash }));
