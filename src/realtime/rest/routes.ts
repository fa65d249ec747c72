/** The endpoint that opens a room's WebSocket, and the endpoints by which the organization uses a live room. */
import { endpointsFor } from "../../http/endpoint.ts";
import { AppError } from "../../platform/errors.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import { commentEndpoints } from "./routes-comments.ts";
import { messagingEndpoints } from "./routes-messaging.ts";
import { storeBatchEndpoints } from "./routes-store-batch.ts";
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
      "Carries no credential: the client's first message, `JOIN_ROOM`, does. The repository's `docs/protocol.md` describes the messages, events, limits and close codes.",
    errors: ["NOT_FOUND"],
    answers: { 101: "The socket is open; `JOIN_ROOM` is expected within 10 seconds." },
    respond: async (ctx, { params }, request) => {
      // First of all: a browser does not say why a socket failed, but a plain GET of this address does.
      const room = await getRoomRow(ctx, params.roomId);
      if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
        throw new AppError(
          "Rooms",
          "BAD_REQUEST",
          "This address accepts only WebSocket upgrades: send `Upgrade: websocket`",
        );
      }
      return ctx.rooms.connect(room.id, room.accountId, request);
    },
  }),
  ...storeBatchEndpoints,
  ...storeEndpoints,
  ...commentEndpoints,
  ...messagingEndpoints,
];
