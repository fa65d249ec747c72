/** The only way to a room's object: turns a room's id into calls of its stub. */
import type { Env } from "../config.ts";
import { clientOf } from "../http/rate-limit.ts";
import { AppError } from "../platform/errors.ts";
import { ACCOUNT_HEADER, ADDRESS_HEADER, ROOM_HEADER, type RoomGateway } from "./port/room-gateway.ts";
import type { Response } from "./protocol/protocol.ts";

export function roomGateway(env: Pick<Env, "ROOMS">): RoomGateway {
  const stub = (roomId: string) => env.ROOMS.getByName(roomId);
  return {
    read: async (roomId, accountId, userIds) => stub(roomId).read(accountId, [...userIds]),
    readUser: async (roomId, accountId, userId) => stub(roomId).readUser(accountId, userId),
    reconcile: async (roomId, accountId) => stub(roomId).reconcile(accountId),
    apply: async (roomId, accountId, command) => stub(roomId).apply(accountId, command),
    request: async (roomId, accountId, request) => {
      const response = await stub(roomId).request(accountId, JSON.stringify(request));
      return dataOf(JSON.parse(response) as Response);
    },
    writeStores: async (roomId, accountId, userId, batches) =>
      JSON.parse(await stub(roomId).writeStores(accountId, userId, JSON.stringify(batches))) as Response[],
    // A new request: of what the client sent, only the upgrade reaches the object.
    connect: (roomId, accountId, request) =>
      stub(roomId).fetch("https://room/socket", {
        headers: {
          Upgrade: request.headers.get("Upgrade") ?? "",
          [ACCOUNT_HEADER]: accountId,
          [ROOM_HEADER]: roomId,
          [ADDRESS_HEADER]: clientOf(request),
        },
      }),
  };
}

function dataOf(response: Response): object {
  if (response.success) return response.data;
  const { module, code, message } = response.error;
  throw new AppError(module, code, message);
}
