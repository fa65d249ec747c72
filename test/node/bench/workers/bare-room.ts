/** The minimal room: an object that forwards each message as one frame and keeps no users. */
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

/** The name is that in wrangler.toml. */
export class RoomObject extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    );
  }

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /**
   * `=…` goes back to its sender alone, `!KEY …` does so and is stored, `+…` goes to all with the sender, and
   * anything else to all the others.
   */
  override webSocketMessage(sender: WebSocket, message: string): void {
    const mode = message[0];
    if (mode === "!") this.#store(message);
    if (mode === "!" || mode === "=") sender.send(message);
    else this.#forward(message, mode === "+" ? null : sender);
  }

  #store(message: string): void {
    const key = message.slice(1, message.indexOf(" "));
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)", key, message);
  }

  #forward(message: string, except: WebSocket | null): void {
    for (const socket of this.ctx.getWebSockets()) {
      if (socket !== except) trySend(socket, message);
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
