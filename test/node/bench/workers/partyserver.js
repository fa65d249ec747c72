/** A room on partyserver, hibernating. In JavaScript, as its types are there only once the bench's packages are installed. */
import { routePartykitRequest, Server } from "partyserver";

export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
  SubscriberObject,
} from "./unused-objects.ts";

/** Named as wrangler.toml has it. */
export class RoomObject extends Server {
  static options = { hibernate: true };

  onMessage(sender, message) {
    this.broadcast(message, [sender.id]);
  }
}

export default {
  async fetch(request, env) {
    return (await routePartykitRequest(request, env)) ?? new Response(null, { status: 404 });
  },
};
