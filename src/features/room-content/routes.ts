/** The endpoint that opens a room's WebSocket, and the endpoints by which the organization uses a live room. */
import { endpointsFor } from "../../http/endpoint.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { CLOSE } from "../../room/protocol/protocol.ts";
import type { RoomContext } from "../rooms/context.ts";
import { hasRoom } from "../rooms/queries.ts";
import { documentHistoryEndpoints } from "./documents/routes-document-history.ts";
import { documentSocketEndpoints, refusedSocket } from "./documents/routes-document-sockets.ts";
import { documentCompareEndpoint, documentEndpoints } from "./documents/routes-documents.ts";
import { messagingEndpoints } from "./routes-messaging.ts";
import { storeEndpoints } from "./routes-stores.ts";

const { rawEndpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

export const realtimeEndpoints = [
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/socket",
    operation: "openSocket",
    access: "public",
    summary: "Open a room's WebSocket",
    details:
      "Carries no credential: the client's first message, `JOIN_ROOM`, does. The repository's `docs/protocol.md` describes the messages, events, limits and close codes.",
    errors: ["NOT_FOUND"],
    answers: { 101: "The socket is open; `JOIN_ROOM` is expected within 10 seconds." },
    respond: async (ctx, { params }, request) => {
      const isUpgrade = request.headers.get("Upgrade")?.toLowerCase() === "websocket";
      if (isUpgrade) ctx.rooms.requireConnectable(params.roomId, request);
      if (!(await hasRoom(ctx, params.roomId, ctx.now()))) {
        if (isUpgrade && new URL(request.url).searchParams.get("refusal") === "close")
          return refusedSocket(CLOSE.roomDeleted, "room not found");
        throw notFound("Rooms", "Room");
      }
      if (!isUpgrade) {
        throw new AppError(
          "Rooms",
          "BAD_REQUEST",
          "This address accepts only WebSocket upgrades: send `Upgrade: websocket`",
        );
      }
      return ctx.rooms.connect(params.roomId, ctx.accountId, request, null, ctx.trace);
    },
  }),
  ...documentSocketEndpoints,
  ...documentEndpoints,
  ...documentHistoryEndpoints,
  documentCompareEndpoint,
  ...storeEndpoints,
  ...messagingEndpoints,
];
