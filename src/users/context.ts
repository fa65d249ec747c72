/** The ports that the commands and queries of users need beside those of every request. */
import type { RequestContext } from "../context/context.ts";
import type { UserEventRow } from "../delivery/outbox/table.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import type { Tokens } from "./tokens.ts";

export interface UserContext extends RequestContext, QuotaContext {
  readonly rooms: RoomGateway;
  readonly tokens: Tokens;
  /** Relays a request's committed events of users to their subscribers. Never rejects: the cron trigger retries. */
  relayUserEvents(
    request: Pick<RequestContext, "db" | "log" | "defer">,
    rows: readonly UserEventRow[],
  ): Promise<void>;
}
