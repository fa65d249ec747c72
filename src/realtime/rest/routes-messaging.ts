/** The endpoints of what a room does not store: broadcasts and presence. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { requestIdOf, requestRoom } from "../commands.ts";
import { BroadcastData } from "../protocol/messages.ts";

const { endpoint } = endpointsFor<RoomContext>();

const Broadcast = BroadcastData.extend({
  data: BroadcastData.shape.data.meta({ description: "Any JSON, at most 64 KiB." }),
  userIds: BroadcastData.shape.userIds.meta({ description: "If omitted, everyone who is online." }),
}).meta({ id: "Broadcast", example: { event: "announcement", data: { text: "We begin in five minutes" } } });

const common = { module: "Rooms", access: "organization", status: 200 } as const;

export const messagingEndpoints = [
  endpoint({
    ...common,
    method: "POST",
    path: "/rooms/:roomId/broadcast",
    operation: "broadcast",
    summary: "Send a message to the users who are online in a room",
    details: "The message is not stored. Its `from` is null.",
    errors: ["NOT_FOUND"],
    body: Broadcast,
    done: "Broadcast sent",
    data: z.object({
      delivered: z.int().meta({ description: "The number of users reached.", minimum: 0, example: 2 }),
    }),
    handle: (ctx, { params, body }) =>
      requestRoom(ctx, params.roomId, { type: "BROADCAST", requestId: requestIdOf(ctx), data: body }),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: "/rooms/:roomId/presence",
    operation: "getPresence",
    summary: "Get the presence of a room's users",
    errors: ["NOT_FOUND"],
    done: "Presence retrieved",
    data: z.object({
      presence: z
        .record(z.string(), z.record(z.string(), z.unknown()))
        .meta({ description: "The presence state of each user who has one, by user id." }),
    }),
    handle: (ctx, { params }) => requestRoom(ctx, params.roomId, { type: "PRESENCE_GET" }),
  }),
];
