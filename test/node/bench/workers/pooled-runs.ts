/** Runs a trivial function many times in one request, in a process of the pool. */
export {
  default,
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  Isolates,
  RequestLogObject,
  RequestRateObject,
  RoomObject,
  SubscriberObject,
} from "./runs.ts";
