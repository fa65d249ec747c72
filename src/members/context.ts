/** What commands on members and invitations need beyond a request. */
import type { RequestContext } from "../context/context.ts";
import type { MailOutbox } from "../mail/outbox.ts";

export interface MemberContext extends RequestContext {
  /** Null when the deployment sends no mail. Throws when it is set up wrongly. */
  mail(): MailOutbox | null;
}
