/** Bugs in which a room lost, repeated or mixed up what its members did. */
import type { Bug } from "./bug.ts";

export const ROOMS: readonly Bug[] = [
  {
    story:
      "After a restart, 300 people behind one address took each other's places in the queue, and were back after the grace.",
    file: "test/room/joining.test.ts",
    titles: ["no longer counts once its token is valid, though its user is yet to be read (R4)"],
  },
  {
    story:
      "The last writes of a user who left, or closed the page, were dropped where they waited for their turn.",
    file: "test/room/message-queue.test.ts",
    titles: ["is gone after them, also by closing the socket (R21, R80)"],
  },
  {
    story:
      "63 subscriptions to long names overflowed a socket's attachment: the room's effects stopped half-way, others saw holes in the sequence, and presence was dead for everyone.",
    file: "test/bugs/failing-effects.test.ts",
    titles: ["of %s are refused before they overflow the attachment"],
  },
  {
    story:
      "The first socket that failed ended the effects after it, so that some members never received a committed change.",
    file: "test/bugs/failing-effects.test.ts",
    titles: ["is closed with 1011 when its %s fail, and costs the others nothing (R65)"],
  },
  {
    story: "A join failed after its session had begun, and the others saw a user leave who had never joined.",
    file: "test/bugs/failing-storage.test.ts",
    titles: ["for its %s fails, and the others see nothing of it (R16)"],
  },
  {
    story:
      "A session that could not be ended kept its sockets open, and nothing that their users sent was answered.",
    file: "test/bugs/failing-storage.test.ts",
    titles: ["closes the sockets nevertheless: %s"],
  },
  {
    story:
      "A viewer followed 1,000 invented IDs, and every join of every member was answered with a megabyte more, for good.",
    file: "test/bugs/invented-follows.test.ts",
    titles: [
      "a user who does not exist is NOT_FOUND (R55)",
      "what a join answers of follows and presence stays below 64 KiB in a crowded room (R11)",
    ],
  },
  {
    story:
      "20 batches of 500 writes by other members pushed a receipt out, and a comment that was sent again was made twice.",
    file: "test/room/stores.test.ts",
    titles: ["can resend what was not answered although others have written much since (R34)"],
  },
  {
    story:
      "An old room.closed was applied again after a crash and threw everyone out of a room that was open again.",
    file: "test/bugs/stale-changes.test.ts",
    titles: ["that closed the room closes no room that is open again (R23)"],
  },
  {
    story:
      "A write that had passed the database's check before its room was deleted brought the erased object back.",
    file: "test/bugs/stale-changes.test.ts",
    titles: ["takes no %s of a caller that checked the database before"],
  },
  {
    story:
      "Each deploy and each lost connection made people leave and join again on everyone's screen and in the events.",
    file: "test/room/engine/participants/grace.test.ts",
    titles: ["%s and who is back in time has never been away (R20, R50, R75)"],
  },
  {
    story:
      "A room restored from a backup gave its numbers to other changes, and a client that had been away mixed two histories.",
    file: "test/room/stores.test.ts",
    titles: ["is reset when the room's storage has lost the epoch in which it was there (R79)"],
  },
  {
    story:
      "A large selection froze a user's cursor for the others, because the room refused the whole presence state.",
    file: "test/room/engine/presence/presence.test.ts",
    titles: ["is changed field by field, by any tab, and keeps the others when a field is too large (R47)"],
  },
  {
    story:
      "A broadcast overtook writes of its sender that waited, and receivers saw the announcement before what it announced.",
    file: "test/room/message-queue.test.ts",
    titles: [
      "and a broadcast after it waits behind it, up to 32 of a socket and until the room can afford it (R80)",
    ],
  },
  {
    story: "A socket that was to be closed with a long reason stayed open.",
    file: "test/platform/text.test.ts",
    titles: ["keeps as many whole characters as fit"],
  },
  {
    story: "A room whose tables were erased went on counting the stores that it had had.",
    file: "test/room/storage.test.ts",
    titles: ["keeps entries by store and key, and the sizes of stores"],
  },
  {
    story:
      "Each reply to a comment read all comments of the room, up to 64 MiB, and cost its author three rows.",
    file: "test/room/engine/content/comment-costs.test.ts",
    titles: [
      "a reply looks at one comment of its thread, and a page at its own comments, however many the room has",
    ],
  },
];
