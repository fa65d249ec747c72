/** The endpoints at which the clients of editors open sockets for documents: y-websocket, y-partyserver and Hocuspocus. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { fits } from "@atrium/contract/text.ts";
import { endpointsFor } from "../../../http/endpoint.ts";
import { isUpgrade, refusedSocket } from "../../../http/upgrades.ts";
import { isLasting } from "../../../platform/token-claims.ts";
import { bodies } from "../../../room/documents/sync/frames.ts";
import { CLOSE } from "../../../room/protocol/protocol.ts";
import type { DocumentAddress } from "../../../room/types/room-object.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { getRoomRow, hasRoom } from "../../rooms/queries.ts";

const { rawEndpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

/** Clients that send the token as a subprotocol offer this one too, and the server chooses it. */
const SUBPROTOCOL = "atrium";

/** The token among the subprotocols of an upgrade, and the one to answer with. */
export function credentialOf(request: Request): Pick<DocumentAddress, "token" | "protocol"> {
  const offered = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",").map((part) => part.trim());
  const protocol = offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : null;
  const token = protocol === null ? undefined : offered.find((part) => part !== SUBPROTOCOL);
  return { token: token ?? "", protocol };
}

const tokenInAddress = ({ url }: Request): string => new URL(url).searchParams.get("token") ?? "";

const LASTING_IN_ADDRESS =
  "The token lasts too long for an address, which logs may have: send a short-lived one, or the subprotocols atrium and the token";

/** Opens a socket. Pages cannot read why an upgrade fails: an unknown room is a close code. */
async function connect(
  ctx: RoomContext,
  roomId: string,
  address: DocumentAddress,
  request: Request,
): Promise<Response> {
  ctx.rooms.requireConnectable(roomId, request);
  if (!(await hasRoom(ctx, roomId, ctx.now())))
    return refusedSocket(CLOSE.roomDeleted, "room not found", address.protocol);
  return ctx.rooms.connect(roomId, ctx.accountId, request, address, ctx.trace);
}

export const endpoints = [
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/documents/:document/sync",
    operation: "openDocumentSocket",
    insteadOfSdk: "Editors open it with the client that they have.",
    right: "public",
    summary: "Open a document's WebSocket",
    details:
      "Speaks the protocol of y-websocket and y-partyserver. The token of a user or an identity is the second of the subprotocols `atrium` and the token, or the query parameter `token` if it is valid for at most 24 hours in all. The repository's `docs/protocol.md` describes roles, limits and close codes.",
    answers: {
      101: "The socket is open. A refusal closes it with a code of its own.",
      404: "The request is no upgrade, and there is no such room.",
    },
    respond: async (ctx, { params: { roomId, document: name } }, request) => {
      if (!isUpgrade(request)) {
        await getRoomRow(ctx, roomId);
        throw new AppError("Rooms", "BAD_REQUEST", "This address accepts only WebSocket upgrades");
      }
      const { protocol, token: offered } = credentialOf(request);
      const credential = { protocol, token: offered === "" ? tokenInAddress(request) : offered };
      if (offered === "" && isLasting(credential.token))
        return refusedSocket(CLOSE.unauthorized, "the token lasts too long for an address", protocol, [
          bodies.denied(LASTING_IN_ADDRESS),
        ]);
      if (!fits(name, DOCUMENT_LIMITS.documentNameLength))
        return refusedSocket(CLOSE.protocolBroken, "the document's name is too long", credential.protocol);
      return connect(ctx, roomId, { wire: "yWebsocket", name, ...credential }, request);
    },
  }),
];

/** The upgrade at the address that lists a room's documents: Hocuspocus' clients name the documents in their frames. */
export const hocuspocusEndpoint = rawEndpoint({
  method: "GET",
  path: "/rooms/:roomId/documents",
  operation: "openDocumentsSocket",
  module: "Rooms",
  right: "public",
  summary: "Open a WebSocket for a room's documents",
  errors: [],
  answers: { 101: "The socket is open." },
  respond: (ctx, { params }, request) =>
    connect(ctx, params.roomId, { wire: "hocuspocus", name: null, token: "", protocol: null }, request),
});
