/** What users' commands and queries need beyond a request. */
import type { RequestContext } from "../context/context.ts";
import type { UserEventRow } from "../delivery/outbox/table.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import type { Tokens } from "./tokens.ts";

export interface UserContext extends RequestContext {
  readonly rooms: RoomGateway;
  readonly tokens: Tokens;
  /** Delivers committed events of users to their subscribers. Never rejects: the scheduled relay retries. */
  relayUserEvents(rows: readonly UserEventRow[]): Promise<void>;
}
