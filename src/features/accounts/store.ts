/** The only SQL about API keys. */
import { and, eq, isNull, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { accounts } from "../../platform/d1/table.ts";
import { countUsed } from "../quotas/statements.ts";
import { type ApiKeyRow, apiKeys } from "./table.ts";

/** A revoked key that an isolate still remembers can make another one, which is never valid. */
const MAKER_IS_VALID = sql`(api_keys.created_by_key IS NULL OR EXISTS (
      SELECT 1 FROM api_keys AS makers WHERE makers.id = api_keys.created_by_key
    ))`;

const keyByHash = prepared(() =>
  build
    .select({
      ...columnsOf(apiKeys),
      accountTokenEpoch: sql<number>`${accounts.tokenEpoch}`.as("accountTokenEpoch"),
    })
    .from(apiKeys)
    .innerJoin(accounts, and(eq(accounts.id, apiKeys.accountId), isNull(accounts.deletedAt)))
    .where(and(eq(apiKeys.hash, sql.placeholder("hash")), MAKER_IS_VALID))
    .limit(1),
);

/** Across organizations: the key determines the organization, whose token epoch tells whether a restore goes on. */
export const selectKeyByHash = (hash: string): Statement<ApiKeyRow & { accountTokenEpoch: number }> =>
  keyByHash({ hash });

const order = ordering({
  table: apiKeys,
  by: { created_at: "createdAt", name: "name", last_used_at: "lastUsedAt" },
  time: "createdAt",
  id: "id",
  ignoringCase: ["name"],
});

export const positionOf = order.positionOf;

const keyPage = order.pages(columnsOf(apiKeys), (_: "all", placed) =>
  and(eq(apiKeys.accountId, sql.placeholder("accountId")), placed),
);

export const selectKeys = ({ accountId }: Tenant, page: Page): Statement<ApiKeyRow> =>
  keyPage("all", page, { accountId });

export const countKeys = (tenant: Tenant, page: Page): Statement<{ total: number }> =>
  countOnce(page, () => countUsed(tenant, "api_keys"));

/** Violates `required:api_keys.account_id` once the organization is deleted: a remembered credential creates no key. */
export const insertKey = ({ accountId }: Tenant, row: ApiKeyRow): Statement => {
  const live = sql<string>`(SELECT id FROM accounts WHERE id = ${accountId} AND deleted_at IS NULL)`;
  return statement(build.insert(apiKeys).values({ ...row, accountId: live }));
};

export const updateLastUsed = ({ accountId }: Tenant, keyId: string, lastUsedAt: number): Statement => {
  const isKey = and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, keyId));
  return statement(build.update(apiKeys).set({ lastUsedAt }).where(isKey));
};

/** Deletes a key and all keys made by it, directly or through others, except `kept` and keys made by it. */
export const deleteKeys = (
  { accountId }: Tenant,
  keyId: string,
  kept: string | null,
): Statement<{ hash: string }> => statement`WITH RECURSIVE ended (id) AS (
      SELECT id FROM api_keys WHERE account_id = ${accountId} AND id = ${keyId}
      UNION SELECT made.id FROM ended JOIN api_keys AS made ON made.created_by_key = ended.id
      WHERE made.account_id = ${accountId} AND made.id IS NOT ${kept}
    )
    DELETE FROM api_keys WHERE id IN (SELECT id FROM ended) RETURNING hash`;

/** Lets a key stay whose maker is gone. */
export const keepKey = (
  { accountId }: Tenant,
  keyId: string | null,
): Statement => statement`UPDATE api_keys SET created_by_key = NULL
    WHERE account_id = ${accountId} AND id = ${keyId}
    AND NOT EXISTS (SELECT 1 FROM api_keys AS makers WHERE makers.id = api_keys.created_by_key)`;

/** Invitations of revoked keys are over, and leave the organization's quota. */
export const deleteInvitationsOfEndedKeys = ({
  accountId,
}: Tenant): Statement => statement`DELETE FROM invitations
    WHERE account_id = ${accountId} AND invited_by_key IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = invitations.invited_by_key)`;
