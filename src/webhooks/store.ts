/** The only SQL about webhooks. */
import { and, eq } from "drizzle-orm";
import { build, columnsOf, type Statement, statement, type Tenant } from "../database.ts";
import { type StoredWebhook, webhooks } from "./table.ts";

/** With the secrets: for the object that delivers, and for nobody else. */
export const selectStoredWebhook = ({ accountId }: Tenant, id: string): Statement<StoredWebhook> =>
  statement(
    build
      .select(columnsOf(webhooks))
      .from(webhooks)
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id))),
  );

/** Switches the webhook off, unless it was changed after `version`: whoever did so may have mended it. */
export const disableWebhook = (
  { accountId }: Tenant,
  id: string,
  version: number,
  now: number,
): Statement<{ id: string }> =>
  statement(
    build
      .update(webhooks)
      .set({ enabled: 0, updatedAt: Math.max(now, version + 1) })
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id), eq(webhooks.updatedAt, version)))
      .returning({ id: webhooks.id }),
  );
