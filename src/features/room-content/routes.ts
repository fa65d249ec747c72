/** The endpoints that open the WebSocket of a room. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { endpointsFor } from "../../http/endpoint.ts";
import { isUpgrade, refusedSocket } from "../../http/upgrades.ts";
import { opensRoom } from "../../platform/narrowing.ts";
import type { IdentityClaims } from "../../platform/token-claims.ts";
import { CLOSE } from "../../room/protocol/protocol.ts";
import { findRoomRow, hasRoom } from "../rooms/queries.ts";
import type { UserContext } from "../users/context.ts";
import { credentialOf } from "./documents/routes-document-sockets.ts";

export interface SocketContext extends UserContext {
  /** Whether a token that is valid by itself has not ended. */
  isTokenCurrent(claims: IdentityClaims): Promise<boolean>;
}

const { rawEndpoint } = endpointsFor<SocketContext>({ module: "Rooms" });

const EXPECTS_JOIN = { 101: "The socket is open; `JOIN_ROOM` is expected within 10 seconds." };

/** Refuses the upgrade, or its socket: pages cannot read why an upgrade fails. */
function refuse(request: Request, error: AppError, protocol: string | null): Response {
  const isReadable = isUpgrade(request) && new URL(request.url).searchParams.get("refusal") === "close";
  if (!isReadable) throw error;
  const { code, message } = error;
  if (code === "NOT_FOUND") return refusedSocket(CLOSE.roomDeleted, "room not found", protocol);
  const event = { type: "event", event: "authFailed", data: { code, message } };
  return refusedSocket(CLOSE.unauthorized, message, protocol, [JSON.stringify(event)]);
}

async function openSocket(ctx: UserContext, roomId: string, request: Request, protocol: string | null) {
  if (!isUpgrade(request))
    throw new AppError(
      "Rooms",
      "BAD_REQUEST",
      "This address accepts only WebSocket upgrades: send `Upgrade: websocket`",
    );
  const response = await ctx.rooms.connect(roomId, ctx.accountId, request, null, ctx.trace);
  if (protocol === null) return response;
  const { status, webSocket } = response;
  return new Response(null, { status, webSocket, headers: { "Sec-WebSocket-Protocol": protocol } });
}

/** The room of a custom ID; null for an identity whose token does not open it, which keeps others secret. */
async function findRoomOf({ accountId, rooms }: IdentityClaims, ctx: UserContext, customId: string) {
  const room = accountId === ctx.accountId ? await findRoomRow(ctx, { customId }) : null;
  return room !== null && opensRoom({ rooms }, room) ? room : null;
}

export const endpoints = [
  rawEndpoint({
    method: "GET",
    path: "/rooms/custom/:customId/socket",
    operation: "openSocketByCustomId",
    insteadOfSdk: "`enterRoom({ customId })` of `atrium/client` opens it in `join()`.",
    right: "public",
    summary: "Open the WebSocket of a room with this custom ID",
    details:
      "For identities. Their token is the second of the subprotocols `atrium` and the token, so that strangers do not learn which custom IDs exist. Then as by the room's ID: `JOIN_ROOM` has the token again.",
    errors: ["NOT_FOUND", "UNAUTHORIZED"],
    answers: EXPECTS_JOIN,
    respond: async (ctx, { params }, request) => {
      const { token, protocol } = credentialOf(request);
      const claims = await ctx.tokens.verifyIdentity(token, ctx.now());
      if (claims === null || !(await ctx.isTokenCurrent(claims)))
        return refuse(
          request,
          new AppError("Auth", "UNAUTHORIZED", "The token is invalid or has expired"),
          protocol,
        );
      const room = await findRoomOf(claims, ctx, params.customId);
      return room === null
        ? refuse(request, notFound("Rooms", "Room"), protocol)
        : openSocket(ctx, room.id, request, protocol);
    },
  }),
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/socket",
    operation: "openSocket",
    insteadOfSdk: "`AtriumClient` of `atrium/client` opens it in `join()`, and speaks its protocol.",
    right: "public",
    summary: "Open a room's WebSocket",
    details:
      "Carries no credential: the client's first message, `JOIN_ROOM`, does. The repository's `docs/protocol.md` describes the messages, events, limits and close codes.",
    errors: ["NOT_FOUND"],
    answers: EXPECTS_JOIN,
    respond: async (ctx, { params }, request) => {
      if (isUpgrade(request)) ctx.rooms.requireConnectable(params.roomId, request);
      return (await hasRoom(ctx, params.roomId, ctx.now()))
        ? openSocket(ctx, params.roomId, request, null)
        : refuse(request, notFound("Rooms", "Room"), null);
    },
  }),
];
