/** The ports that the commands and queries of users need beside those of every request. */

import type { Inboxes } from "../../delivery/inboxes.ts";
import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { Tokens } from "./tokens.ts";

export interface UserContext extends RequestContext, QuotaContext, EventRelay {
  readonly rooms: RoomGateway;
  readonly tokens: Tokens;
  readonly inboxes: Inboxes;
}
