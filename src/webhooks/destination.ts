/** What the objects that deliver know of their webhook, and the one thing that they change of it. */
import type { Tenant } from "../database.ts";
import type { Destination } from "./deliver.ts";
import { type DestinationRow, disableWebhook, selectDestination } from "./store.ts";

/** A webhook as it is now, for those who deliver to it. */
export interface WebhookDestination extends Pick<Destination, "url"> {
  readonly enabled: boolean;
  /** Greater after each change. */
  readonly version: number;
  /** The secrets that sign at this moment, the newest first. */
  secretsAt(now: number): readonly string[];
}

function destinationOf(row: DestinationRow): WebhookDestination {
  const { url, enabled, updatedAt, secret, previousSecret, previousSecretUntil } = row;
  const isKept = (now: number) => previousSecretUntil !== null && now < previousSecretUntil;
  return {
    url,
    enabled: enabled === 1,
    version: updatedAt,
    secretsAt: (now) => (previousSecret !== null && isKept(now) ? [secret, previousSecret] : [secret]),
  };
}

/** The webhook's destination; null when it was deleted. One round trip. */
export async function findDestination(tenant: Tenant, webhookId: string): Promise<WebhookDestination | null> {
  const [[row]] = await tenant.db.run([selectDestination(tenant, webhookId)]);
  return row === undefined ? null : destinationOf(row);
}

/** Switches the webhook off (410, or too long a failure); false when somebody has changed it since `version`. */
export async function giveUp(
  tenant: Tenant,
  webhookId: string,
  version: number,
  now: number,
): Promise<boolean> {
  const [disabled] = await tenant.db.run([disableWebhook(tenant, webhookId, version, now)]);
  return disabled.length > 0;
}
