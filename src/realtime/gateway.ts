/** The only way to a room's object: turns a room's id into its stub. */
import type { Env } from "../config.ts";
import type { RoomCommand } from "../delivery/room-command.ts";
import { AppError } from "../platform/errors.ts";
import type { RoomStats } from "../rooms/schema.ts";
import type { Response } from "./protocol/protocol.ts";
import type { RoomRequest } from "./requests.ts";
import { ACCOUNT_HEADER, ROOM_HEADER } from "./room-object.ts";
import type { Reconciliation, RoomSnapshot, UserSnapshot } from "./snapshots.ts";

/** What the rest of the Worker may ask of a room's object. Callers have checked that the room is the account's. */
export interface RoomGateway {
  /** The room's figures, and what it knows of these users. */
  read(roomId: string, accountId: string, userIds: readonly string[]): Promise<RoomSnapshot>;
  readUser(roomId: string, accountId: string, userId: string): Promise<UserSnapshot>;
  /** Sets the counter to the users who are really online, in the object and in the database. */
  reconcile(roomId: string, accountId: string): Promise<Reconciliation>;
  /** Hands a change on to those who are connected; may be repeated. Gives the figures after it. */
  apply(roomId: string, accountId: string, change: RoomCommand): Promise<RoomStats>;
  /** Does what the organization asks of the live room; throws the refusal that the room answers. */
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
    apply: async (roomId, accountId, change) => stub(roomId).apply(accountId, change),
    request: async (roomId, accountId, request) => {
      const answer = await stub(roomId).request(accountId, JSON.stringify(request));
      return dataOf(JSON.parse(answer) as Response);
    },
    // A request of our own: nothing that the client sent reaches the object but its wish to upgrade.
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

function dataOf(answer: Response): object {
  if (answer.success) return answer.data;
  const { module, code, message } = answer.error;
  throw new AppError(module, code, message);
}
