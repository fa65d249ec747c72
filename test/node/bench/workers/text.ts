/** Returns the text of the latest PUT: the least cost of sending that number of bytes. */
export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
  RoomObject,
  SubscriberObject,
} from "./unused-objects.ts";

let text = "";

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method === "PUT") text = await request.text();
    return new Response(request.method === "PUT" ? "" : text);
  },
};
