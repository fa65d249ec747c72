/** The floor of the fate bench: refuses at once, and knows nothing. Hostile load costs it only the runtime's work. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";

export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
  SubscriberObject,
} from "./unused-objects.ts";

interface Env {
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
}

const ANSWER = JSON.stringify({
  type: "response",
  success: false,
  description: "Refused",
  data: {},
  error: { module: "Rooms", code: "RATE_LIMITED", message: "Refused" },
  requestId: "h",
});
const FLOODING = 4429;

/** The path says what it does with a socket: `answering` keeps it, and refuses each frame; `closing` closes it with the first one. The name is that in wrangler.toml. */
export class RoomObject extends DurableObject<Env> {
  override fetch(request: Request): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server, [request.url.endsWith("closing") ? "closing" : "answering"]);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket): void {
    try {
      socket.send(ANSWER);
      if (this.ctx.getTags(socket)[0] === "closing") socket.close(FLOODING, "too many messages");
    } catch {
      // The other side is closing.
    }
  }

  override webSocketClose(socket: WebSocket): void {
    try {
      socket.close();
    } catch {
      // The socket is closed.
    }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (/\/(answering|closing)$/.test(request.url))
      return env.ROOMS.getByName("room").fetch(request.url, { headers: { Upgrade: "websocket" } });
    // Unread, so that a slow body holds nothing up.
    await request.body?.cancel();
    return Response.json({ error: "RATE_LIMITED" }, { status: 429 });
  },
};
