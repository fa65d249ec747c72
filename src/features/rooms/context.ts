/** The ports that the commands and queries of rooms need beside those of every request. */

import type { Inboxes } from "../../delivery/inboxes.ts";
import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { Blobs } from "../files/storage/blobs.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface LiveRoomContext extends OperationContext {
  readonly rooms: RoomGateway;
}

export interface RoomContext extends RequestContext, QuotaContext, EventRelay {
  readonly rooms: RoomGateway;
  readonly blobs: Blobs;
  readonly inboxes: Inboxes;
}

/** The context of deleting a room, in a request or in the cron trigger. */
export type RoomDeletionContext = Pick<OperationContext, "trace"> &
  Pick<
    RoomContext,
    "accountId" | "db" | "newId" | "now" | "log" | "defer" | "commit" | "relayEvents" | "rooms" | "blobs"
  >;
