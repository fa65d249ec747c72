/** The context of commands on members and invitations. */
import type { RequestContext } from "../../platform/d1/context.ts";
import type { MailOutbox } from "../mail/outbox.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface MemberContext extends RequestContext, QuotaContext {
  /** Null when the deployment sends no mail. Throws when it is set up wrongly. */
  mail(): MailOutbox | null;
}
