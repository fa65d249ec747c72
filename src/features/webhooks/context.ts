/** What webhooks' commands and queries need beyond a request. */

import type { SubscriberGateway } from "../../delivery/port/subscriber-port.ts";
import type { RequestContext } from "../../platform/context/context.ts";
import type { Sealer } from "../../platform/crypto/sealer.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface WebhookContext extends RequestContext, QuotaContext {
  readonly subscribers: SubscriberGateway;
  /** Hosts for which the rules of webhook targets are loosened; none in production. */
  readonly webhookDevTargets: readonly string[];
  /** Hosts that lead to this service, besides the one of the request. */
  readonly ownHosts: readonly string[];
  /** Encrypts signing secrets. */
  readonly signingSealer: Sealer;
}
