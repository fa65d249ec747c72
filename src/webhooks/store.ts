/** The only SQL about webhooks. */
import { and, count, eq, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import { type StoredWebhook, type WebhookRow, webhooks } from "./table.ts";

const STORED = columnsOf(webhooks);
/** All but the secrets: what is read for a request cannot give them away. */
const { secret, previousSecret, previousSecretUntil, ...SHOWN } = STORED;

const ofAccount = eq(webhooks.accountId, sql.placeholder("accountId"));
const byId = and(ofAccount, eq(webhooks.id, sql.placeholder("id")));
const whereIs = ({ accountId }: Tenant, id: string) =>
  and(eq(webhooks.accountId, accountId), eq(webhooks.id, id));

const webhookById = prepared(() => build.select(SHOWN).from(webhooks).where(byId).limit(1));

export const selectWebhook = ({ accountId }: Tenant, id: string): Statement<WebhookRow> =>
  webhookById({ accountId, id });

const storedWebhookById = prepared(() => build.select(STORED).from(webhooks).where(byId).limit(1));

/** With the secrets: for the object that delivers, and for nobody else. */
export const selectStoredWebhook = ({ accountId }: Tenant, id: string): Statement<StoredWebhook> =>
  storedWebhookById({ accountId, id });

type Filter = "all" | "searched";
const filterOf = (page: Page): Filter => (page.search === "" ? "all" : "searched");

const filtered = (filter: Filter) =>
  and(
    ofAccount,
    filter === "all" ? undefined : sql`instr(${webhooks.urlFolded}, ${sql.placeholder("search")})`,
  );

const webhookPage = preparedByShape((filter: Filter) =>
  build
    .select(SHOWN)
    .from(webhooks)
    .where(filtered(filter))
    .orderBy(sql`${webhooks.createdAt} DESC`, sql`${webhooks.id} DESC`)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectWebhooks = ({ accountId }: Tenant, page: Page): Statement<WebhookRow> =>
  webhookPage(filterOf(page), { accountId, ...page });

const webhookCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(webhooks)
    .where(filtered(filter)),
);

export const countWebhooks = ({ accountId }: Tenant, page: Page): Statement<{ total: number }> =>
  webhookCount(filterOf(page), { accountId, ...page });

export const insertWebhook = (_: Tenant, row: StoredWebhook): Statement =>
  statement(build.insert(webhooks).values(row));

/** Later than before, whatever the clock says: two changes within a millisecond are two versions. */
const nextVersion = (now: number) => sql`max(${now}, ${webhooks.updatedAt} + 1)`;

export type WebhookChanges = Partial<
  Pick<WebhookRow, "url" | "urlFolded" | "ownHost" | "events" | "roomId" | "enabled">
>;

export const updateWebhook = (
  tenant: Tenant,
  id: string,
  changes: WebhookChanges,
  now: number,
): Statement<WebhookRow> =>
  statement(
    build
      .update(webhooks)
      .set({ ...changes, updatedAt: nextVersion(now) })
      .where(whereIs(tenant, id))
      .returning(SHOWN),
  );

/** Makes a secret the one that signs; the one until now signs beside it until then (epoch ms). */
export const rotateSecret = (
  tenant: Tenant,
  id: string,
  newSecret: string,
  previousUntil: number,
  now: number,
): Statement<WebhookRow> =>
  statement(
    build
      .update(webhooks)
      .set({
        secret: newSecret,
        previousSecret: sql`${webhooks.secret}`,
        previousSecretUntil: previousUntil,
        updatedAt: nextVersion(now),
      })
      .where(whereIs(tenant, id))
      .returning(SHOWN),
  );

/** Switches a webhook off, unless it has been changed since this version of it was read. */
export const disableWebhook = (
  tenant: Tenant,
  id: string,
  version: number,
  now: number,
): Statement<{ id: string }> =>
  statement(
    build
      .update(webhooks)
      .set({ enabled: 0, updatedAt: nextVersion(now) })
      .where(and(whereIs(tenant, id), eq(webhooks.updatedAt, version)))
      .returning({ id: webhooks.id }),
  );

export const deleteWebhook = (tenant: Tenant, id: string): Statement<{ id: string }> =>
  statement(build.delete(webhooks).where(whereIs(tenant, id)).returning({ id: webhooks.id }));
