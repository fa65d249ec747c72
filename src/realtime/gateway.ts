/** The only way to a room's object: turns a room's id into its stub. */
import type { Env } from "../config.ts";
import { AppError } from "../platform/errors.ts";
import type { RoomStats } from "../rooms/schema.ts";
import type { RoomCommand } from "./port/room-command.ts";
import type { Reconciliation, RoomSnapshot, UserSnapshot } from "./port/snapshots.ts";
import type { Response } from "./protocol/protocol.ts";
import type { RoomRequest } from "./protocol/room-request.ts";
import { ACCOUNT_HEADER, ROOM_HEADER } from "./room-object.ts";

/** What the rest of the Worker can do with a room's object. Callers have checked that the room is the account's. */
export interface RoomGateway {
  /** The room's stats, and the attendance of these users. */
  read(roomId: string, accountId: string, userIds: readonly string[]): Promise<RoomSnapshot>;
  readUser(roomId: string, accountId: string, userId: string): Promise<UserSnapshot>;
  /** Sets the counter to the users who are really online, in the object and in the database. */
  reconcile(roomId: string, accountId: string): Promise<Reconciliation>;
  /** Applies a change to the connected users; idempotent. Returns the stats after it. */
  apply(roomId: string, accountId: string, command: RoomCommand): Promise<RoomStats>;
  /** Makes a request of the organization; throws an AppError when the room refuses it. */
  request(roomId: string, accountId: string, request: RoomRequest): Promise<object>;
  /** Upgrades to a WebSocket that waits to join. */
  connect(roomId: string, accountId: string, request: Request): Promise<globalThis.Response>;
}

export function roomGateway(env: Env): RoomGateway {
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
    // A new request: of what the client sent, only the upgrade reaches the object.
    connect: (roomId, accountId, request) =>
      stub(roomId).fetch("https://room/socket", {
        headers: {
          Upgrade: request.headers.get("Upgrade") ?? "",
          [ACCOUNT_HEADER]: accountId,
          [ROOM_HEADER]: roomId,
        },
      }),
  };
}

function dataOf(response: Response): object {
  if (response.success) return response.data;
  const { module, code, message } = response.error;
  throw new AppError(module, code, message);
}
