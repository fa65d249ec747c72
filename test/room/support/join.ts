/** Joins a room as a client does, through the gateway of the service. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { roomGateway } from "../../../src/room/host/gateway.ts";
import { TestSocket } from "./test-socket.ts";

export async function joinRoom(accountId: string, roomId: string, token: string): Promise<TestSocket> {
  const upgrade = new Request("https://atrium.test/", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await roomGateway(env).connect(roomId, accountId, upgrade);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  const socket = new TestSocket(webSocket);
  expect(await socket.request("JOIN_ROOM", { token })).toMatchObject({ success: true });
  return socket;
}
