/** The endpoints of links for guests. */

import {
  EXAMPLE_SECRET,
  LinkRedemption,
  pendingRooms,
  RedeemedLink,
  RoomLink,
  RoomLinkCreation,
} from "@atrium/contract/rest/identities.ts";
import { scrollShape } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import { scrolling, toPage } from "../../http/lists.ts";
import type { IdentityContext } from "./commands.ts";
import { createRoomLink, listRoomLinks, redeemAgain, redeemLink, revokeRoomLink } from "./links.ts";
import { keepClaims } from "./routes-tokens.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const WithSecret = z.object({ secret: z.string() });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/links",
    operation: "listRoomLinks",
    sdk: "listRoomLinks(roomId, part?: Scroll): data",
    summary: "List the links of a room",
    details: "Links that have not ended, newest first. Secrets are never shown again.",
    errors: ["NOT_FOUND"],
    query: z.object(scrolling),
    done: "Links retrieved",
    data: z.object({ links: z.array(RoomLink), ...scrollShape }),
    handle: (ctx, { params, query }) => listRoomLinks(ctx, params.roomId, toPage(query), ctx.now()),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/links",
    operation: "createRoomLink",
    isForAgents: false,
    sdk: "createRoomLink(roomId, link): data",
    summary: "Create a link for guests",
    details:
      "Guests need no account of yours: with the secret they enter this room. Put it into the fragment of a URL of yours, behind `#`, which browsers send to no server. Only this response contains it; a retry with the same Idempotency-Key answers 409. `FORBIDDEN` above the quota of links.",
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    body: RoomLinkCreation,
    status: 201,
    done: "Link created",
    data: z.object({
      link: RoomLink,
      secret: z.string().meta({
        description: "Shown once, and stored as a hash only.",
        example: EXAMPLE_SECRET,
      }),
    }),
    audit: {
      resource: "link",
      created: ({ link }) => link.id,
      detail: ({ params }) => ({ roomId: params.roomId }),
      shows: ["maxUses"],
    },
    handle: (ctx, { params, body }) => createRoomLink(ctx, params.roomId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/links/:linkId",
    operation: "revokeRoomLink",
    isForAgents: false,
    sdk: "revokeRoomLink(roomId, linkId): data",
    summary: "Revoke a link and end its guests",
    details:
      "Closes the sockets of its guests (4403) before the response, refuses their tokens, and deletes the guests. Their content stays in the room, with the names of their users.",
    errors: ["NOT_FOUND"],
    done: "Link revoked",
    data: z.object(pendingRooms),
    audit: {
      resource: "link",
      id: ({ params }) => params.linkId,
      detail: ({ params }) => ({ roomId: params.roomId }),
    },
    handle: (ctx, { params }) => revokeRoomLink(ctx, params.roomId, params.linkId),
  }),
  endpoint({
    method: "POST",
    path: "/links/redeem",
    operation: "redeemLink",
    isForAgents: false,
    insteadOfSdk:
      "`redeemLink` of `atrium/client` sends it from the page of a guest, and gets the guest's further tokens.",
    right: "public",
    summary: "Enter a room by a link",
    details:
      "For pages of guests; it needs no credential. Creates a guest and returns a token for the link's room alone, which `JOIN_ROOM` takes. With the guest's earlier `token`, also an expired one, the same guest gets another token, and no use is counted: do that before a token expires, and when the guest comes back. `NOT_FOUND` for a link that lets no one in, `FORBIDDEN` when no further guest fits in. `UNAUTHORIZED` for the earlier token of a guest who was removed or whose tokens were ended, and for one of another link: without it, a new guest comes. Wrong secrets count as failed authentications, and 60 guests a minute come from one network. An `Idempotency-Key`, which no one else must know, makes a retry return the same guest; it is `CONFLICT` once the guest was removed, and `NOT_FOUND` once the link lets no one in.",
    errors: ["NOT_FOUND", "FORBIDDEN", "UNAUTHORIZED"],
    replay: { ...keepClaims(redeemAgain), secretIn: (body) => WithSecret.parse(body).secret },
    body: LinkRedemption,
    done: "Link redeemed",
    data: RedeemedLink,
    handle: (ctx, { body }) => redeemLink(ctx, body),
  }),
];
