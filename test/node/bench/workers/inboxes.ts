/** Atrium, with a page that tells how often inboxes were constructed, and how often the platform called them. */
/// <reference types="@cloudflare/workers-types" />
import type { Env } from "../../../../src/env.ts";
import { InboxObject as Inbox } from "../../../../src/objects.ts";
import atrium from "./atrium.ts";

export {
  EventLogObject,
  GuessLimitObject,
  InboxFanOut,
  Isolates,
  RequestLogObject,
  RequestRateObject,
  RoomObject,
  SubscriberObject,
} from "./atrium.ts";

const wakes = { constructed: 0, messages: 0, alarms: 0 };

export class InboxObject extends Inbox {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    wakes.constructed += 1;
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    wakes.messages += 1;
    return super.webSocketMessage(socket, frame);
  }

  override alarm(): Promise<void> {
    wakes.alarms += 1;
    return super.alarm();
  }
}

export default {
  fetch(request: Request, bindings: Env, execution: ExecutionContext) {
    const { pathname } = new URL(request.url);
    return pathname === "/wakes" ? Response.json(wakes) : atrium.fetch(request, bindings, execution);
  },
};
