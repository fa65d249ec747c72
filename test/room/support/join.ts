/** Joins a room as a client does, through the gateway of the service. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { roomGateway } from "../../../src/room/host/gateway.ts";
import { TestSocket } from "./test-socket.ts";

export async function openSocket(accountId: string, roomId: string): Promise<TestSocket> {
  const upgrade = new Request("https://atrium.test/", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await roomGateway(env).connect(roomId, accountId, upgrade);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  return new TestSocket(webSocket);
}

/** The socket, and the data of the response. */
export async function joinWith(accountId: string, roomId: string, token: string, data: object = {}) {
  const socket = await openSocket(accountId, roomId);
  const response = await socket.request("JOIN_ROOM", { token, ...data });
  expect(response).toMatchObject({ success: true });
  return { socket, joined: response.data };
}

export const joinRoom = async (accountId: string, roomId: string, token: string): Promise<TestSocket> =>
  (await joinWith(accountId, roomId, token)).socket;
