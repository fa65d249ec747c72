/** The only SQL about webhooks. */
import { sql } from "drizzle-orm";
import { accountRows } from "../../platform/d1/account-rows.ts";
import { columnsOf, insertionInto, nextVersion, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { ordering } from "../../platform/d1/ordering.ts";
import { type StoredWebhook, type WebhookRow, webhooks } from "./table.ts";

const STORED = columnsOf(webhooks);
/** All columns but the secrets, so that no request can reveal these. */
const { secret, previousSecret, previousSecretUntil, ...SHOWN } = STORED;

const order = ordering({
  table: webhooks,
  by: { created_at: "createdAt", updated_at: "updatedAt", url: "urlFolded" },
  time: "createdAt",
  id: "id",
});
const rows = accountRows(webhooks, webhooks.urlFolded, order);
const { selectOne, selectPage, count, updateOne, deleteOne } = rows;

export const selectWebhook = selectOne<WebhookRow>(SHOWN);

/** Selects the secrets as well; only for the object that delivers. */
export const selectStoredWebhook = selectOne<StoredWebhook>(STORED);

export const selectWebhooks = selectPage<WebhookRow>(SHOWN);

export const countWebhooks = count;

export const deleteWebhook = deleteOne;

export const insertWebhook = insertionInto(webhooks);

const change = updateOne<WebhookRow, StoredWebhook>(SHOWN);

export const updateWebhook = (tenant: Tenant, id: string, changes: Partial<WebhookRow>, now: number) =>
  change(tenant, id, { ...changes, updatedAt: nextVersion(webhooks.updatedAt, now) });

/** Replaces the secret; the previous one keeps signing beside it until `previousUntil` (epoch ms). */
export const rotateSecret = (
  tenant: Tenant,
  id: string,
  newSecret: string,
  previousUntil: number,
  now: number,
): Statement<WebhookRow> =>
  change(tenant, id, {
    secret: newSecret,
    previousSecret: sql`${webhooks.secret}`,
    previousSecretUntil: previousUntil,
    updatedAt: nextVersion(webhooks.updatedAt, now),
  });

/** Notes the start of a high backlog (epoch ms), or null for its end. The webhook does not change: its version stays. */
export const markBacklogged = (tenant: Tenant, id: string, since: number | null) =>
  change(tenant, id, { backloggedSince: since });
