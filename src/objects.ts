/** The Durable Object classes that need features: each is an engine's object with its ports filled. */
import { boardCommentBytes, storeUseOf } from "./demo/boards.ts";
import type { Env } from "./env.ts";
import { roomPorts } from "./features/room-content/room-ports.ts";
import { RoomObject as LiveRoom } from "./room/host/room-object.ts";

export class RoomObject extends LiveRoom {
  constructor(ctx: DurableObjectState, env: Env) {
    const ports = roomPorts(env, (room, use) => ({
      storeUse: storeUseOf(env, room, use),
      maxCommentBytes: boardCommentBytes(env, room),
    }));
    super(ctx, env, ports);
  }
}
