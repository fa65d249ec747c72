/** What rooms' commands and queries need beyond a request. */
import type { OperationContext, RequestContext } from "../context/context.ts";
import type { Blobs } from "../files/storage/blobs.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";

/** Reads live rooms, for a request or for a workflow's run. */
export interface LiveRoomContext extends OperationContext {
  readonly rooms: RoomGateway;
}

export interface RoomContext extends RequestContext {
  readonly rooms: RoomGateway;
  /** The bytes of files, which go when their room goes. */
  readonly blobs: Blobs;
}
