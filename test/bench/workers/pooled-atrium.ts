/** Atrium as src/index.ts serves it, with the programs of workflows in processes of the pool. */
export {
  default,
  EventLogObject,
  GuessLimitObject,
  Isolates,
  RoomObject,
  SubscriberObject,
} from "./atrium.ts";
