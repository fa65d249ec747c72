/** Atrium with a page that tells which of its functions have run since it was last asked: see test/node/house/paths.ts. */
/// <reference types="@cloudflare/workers-types" />
import type { Env } from "../../../../src/env.ts";
import atrium from "./atrium.ts";

export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  Isolates,
  RequestLogObject,
  RequestRateObject,
  RoomObject,
  SubscriberObject,
} from "./atrium.ts";

/** The rewritten script adds each function that runs. */
declare const ranModules: Set<number>;

export default {
  fetch(request: Request, bindings: Env, execution: ExecutionContext) {
    if (new URL(request.url).pathname !== "/ran") return atrium.fetch(request, bindings, execution);
    const ran = [...ranModules];
    ranModules.clear();
    return Response.json(ran);
  },
};
