/** Bugs in which subscribers missed events, got them twice or late, or were aimed at. */
import type { Bug } from "./bug.ts";

export const DELIVERIES: readonly Bug[] = [
  {
    story: "The object of a deleted room failed, and the room's sockets stayed open and its content stored.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: [
      "is carried out by the sweep when the room's object cannot be reached, as often as that takes",
      "closes the sockets and is finished by the sweep when the room's storage fails",
      "is carried out again, and harms nothing, when the service dies before it forgets the entry",
    ],
  },
  {
    story: "Of two subscribers that failed at once, one never received the event.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: ["reaches two subscribers later that fail at once, and the one that does not fail only once"],
  },
  {
    story:
      "An event would have been sent twice whenever the service died before it had forgotten the event's row.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: ["is delivered and logged once when the service dies before it forgets the row"],
  },
  {
    story:
      "A change of a user was answered with 500 although it was committed, when its room could not be reached.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: [
      "is delivered by the sweep when the room that knows whether the user is online cannot be reached",
    ],
  },
  {
    story:
      "A request died before it passed its event on, and the receiver got the next change of the room first.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: ["goes ahead of the next one when the request died that was to pass it on"],
  },
  {
    story: "A sweep of many good entries left every other page for a later run.",
    file: "test/bugs/failed-hand-over.test.ts",
    titles: ["a sweep of more than two pages of good entries gets through all of them"],
  },
  {
    story:
      "The gateway failed while it passed an event on, and would have forgotten the subscribers that it had not reached yet.",
    file: "test/room/engine/outbox/outbox-drain.test.ts",
    titles: ["keeps the subscriptions that it could not reach with the event, which goes first next time"],
  },
  {
    story: "An organization whose rooms hung kept the events of all others waiting.",
    file: "test/delivery/outbox.test.ts",
    titles: [
      "an organization with many rooms that hang ends its own run, and costs no other organization any time",
    ],
  },
  {
    story:
      "A receiver that answered 410 was called every five seconds, with nothing in the history, while its webhook could not be disabled.",
    file: "test/delivery/subscriber-object.test.ts",
    titles: [
      "that answers 410 is called once, and what it answered is recorded, while its webhook cannot be disabled",
    ],
  },
  {
    story: "An event that was relayed again after the service had stood still for days was delivered twice.",
    file: "test/delivery/subscriber-object.test.ts",
    titles: ["delivers no event twice that is relayed again after days of standstill"],
  },
  {
    story: "The test of a webhook that the service had disabled did not answer for an hour.",
    file: "test/delivery/scheduler.test.ts",
    titles: ["starts what was asked for by hand while it pauses, but not before its receiver has rested"],
  },
  {
    story:
      "A webhook that its owner had just changed would have been switched off by a 410 that was still on its way.",
    file: "test/webhooks/deliveries.test.ts",
    titles: ["%s stays enabled"],
  },
  {
    story:
      "Anyone with an organization could aim the service at a stranger's server, at full speed and for days.",
    file: "test/delivery/subscriber-object.test.ts",
    titles: [
      "that never answered 2xx gets events one at a time until it does",
      "that never answers 2xx is slowed down, and disables its webhook with its 50th failure",
    ],
  },
  {
    story: "A receiver that hung was attempted for each event, and a day's backlog took weeks.",
    file: "test/delivery/subscriber-object.test.ts",
    titles: ["that stops answering costs probes with growing pauses, and then receives what waited"],
  },
  {
    story: "Events above a bound were recorded as failed without an attempt.",
    file: "test/delivery/delivery-storage.test.ts",
    titles: ["suspend the subscriber when what waits exceeds the bound, without losing any of it"],
  },
  {
    story: "A replay did not go on while thousands of deliveries waited for hours for their retries.",
    file: "test/webhooks/replay.test.ts",
    titles: ["does not wait for deliveries that wait for their retries"],
  },
];
