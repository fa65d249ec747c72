/** The least that a room can be: an object that passes each message on as one frame. It knows nobody and keeps nothing. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
}

/** Named as wrangler.toml has it. */
export class RoomObject extends DurableObject<Env> {
  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** `=…` goes back to its sender alone, `+…` to all with the sender, anything else to all the others. */
  override webSocketMessage(sender: WebSocket, message: string): void {
    if (message.startsWith("=")) {
      sender.send(message);
      return;
    }
    const isForAll = message.startsWith("+");
    for (const socket of this.ctx.getWebSockets()) {
      if (isForAll || socket !== sender) trySend(socket, message);
    }
  }
}

function trySend(socket: WebSocket, message: string): void {
  try {
    socket.send(message);
  } catch {
    // The other side is closing.
  }
}

export default {
  fetch(request: Request, env: Env) {
    return env.ROOMS.getByName(new URL(request.url).pathname).fetch(request);
  },
};
