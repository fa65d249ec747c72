/** What commands on members and invitations need beyond a request. */
import type { RequestContext } from "../../platform/d1/context.ts";
import type { MailOutbox } from "../mail/outbox.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface MemberContext extends RequestContext, QuotaContext {
  /** Null when the deployment sends no mail. Throws when it is set up wrongly. */
  mail(): MailOutbox | null;
}
