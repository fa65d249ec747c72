/** Delivers a page of an update to inboxes in an invocation of its own, for which the platform counts calls anew. */
import { WorkerEntrypoint } from "cloudflare:workers";
import { openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { deliverPage, type UpdatePage } from "./inbox-updates.ts";

export class InboxFanOut extends WorkerEntrypoint<Env> {
  /** Rejects when an inbox could not be reached. */
  deliver(accountId: string, page: UpdatePage): Promise<void> {
    const inboxOf = openInbox(this.env);
    return deliverPage(openTenant(this.env, accountId), page, (identityId) => inboxOf(accountId, identityId));
  }
}
