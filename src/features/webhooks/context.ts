/** The needs of webhooks' commands and queries beyond a request. */
import type { DeliveryObjects } from "../../delivery/subscribers.ts";
import type { Sealer } from "../../platform/crypto/sealer.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface WebhookContext extends RequestContext, QuotaContext, DeliveryObjects {
  /** Hosts for which the rules of webhook targets are loosened; none in production. */
  readonly webhookDevTargets: readonly string[];
  /** Hosts that lead to this service, besides the one of the request. */
  readonly ownHosts: readonly string[];
  readonly signingSealer: Sealer;
}
