/** The endpoint behind which a room's live half begins, and what the organization may do there over REST. */

import { endpointsFor } from "../../http/endpoint.ts";
import { AppError } from "../../platform/errors.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import { commentEndpoints } from "./routes-comments.ts";
import { talkEndpoints } from "./routes-messaging.ts";
import { storeEndpoints } from "./routes-stores.ts";

const { rawEndpoint } = endpointsFor<RoomContext>();

export const realtimeEndpoints = [
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/socket",
    operation: "openSocket",
    module: "Rooms",
    access: "public",
    summary: "Open a room's WebSocket",
    details:
      "Carries no credential: the client's first message, `JOIN_ROOM`, does. The messages, events, limits and close codes stand in the repository's `docs/protocol.md`.",
    errors: ["NOT_FOUND"],
    answers: { 101: "The socket is open; `JOIN_ROOM` is expected within 10 seconds." },
    respond: async (ctx, { params }, request) => {
      // Before all else: a browser does not tell why a socket failed, but a plain request to here does.
      const room = await getRoomRow(ctx, params.roomId);
      if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
        throw new AppError("Rooms", "BAD_REQUEST", "This address takes WebSocket upgrades only");
      }
      return ctx.rooms.connect(room.id, room.accountId, request);
    },
  }),
  ...storeEndpoints,
  ...commentEndpoints,
  ...talkEndpoints,
];
