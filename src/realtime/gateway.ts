/** The only way to a room's object: turns a room's id into calls of its stub. */
import type { Env } from "../config.ts";
import { clientOf } from "../http/rate-limit.ts";
import { AppError } from "../platform/errors.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import { ACCOUNT_HEADER, ADDRESS_HEADER, ROOM_HEADER, type RoomGateway } from "./port/room-gateway.ts";
import type { Response } from "./protocol/protocol.ts";

/** Clients that a room has refused within the last second: until then they cost neither its object nor D1 anything. */
const refused = new TtlCache<number>({ ttlMs: 1_000, maxEntries: 10_000 });

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
    requireConnectable: (roomId, request) => {
      const seconds = refused.get(refusalKey(roomId, request), Date.now());
      if (seconds !== undefined) throw tooManyConnections(seconds);
    },
    // A new request: of what the client sent, only the upgrade reaches the object.
    connect: async (roomId, accountId, request) => {
      const response = await stub(roomId).fetch("https://room/socket", {
        headers: {
          Upgrade: request.headers.get("Upgrade") ?? "",
          [ACCOUNT_HEADER]: accountId,
          [ROOM_HEADER]: roomId,
          [ADDRESS_HEADER]: clientOf(request),
        },
      });
      if (response.status !== 429) return response;
      const seconds = Number(response.headers.get("Retry-After"));
      refused.set(refusalKey(roomId, request), seconds, Date.now());
      throw tooManyConnections(seconds);
    },
  };
}

const refusalKey = (roomId: string, request: Request): string => `${roomId} ${clientOf(request)}`;

const tooManyConnections = (seconds: number): AppError =>
  new AppError(
    "Rooms",
    "RATE_LIMITED",
    "Too many connections to this room from this address; wait and retry",
    seconds,
  );

function dataOf(response: Response): object {
  if (response.success) return response.data;
  const { module, code, message } = response.error;
  throw new AppError(module, code, message);
}
