/** Bugs in which one member or tenant took memory, time or reads from all others. */
import type { Bug } from "./bug.ts";

export const SHARED_LOAD: readonly Bug[] = [
  {
    story:
      "A few sockets that asked for users as fast as they could let a change of a user fail after eleven seconds.",
    file: "test/room/engine/database-queue.test.ts",
    titles: [
      "wait while REST changes a user, for at most the one that is being answered (R66)",
      "take turns with those of others (R66)",
    ],
  },
  {
    story:
      "Thousands of questions about the room on one socket delayed the answers of its neighbours by seconds.",
    file: "test/room/engine/database-queue.test.ts",
    titles: [
      "are answered by one read when they are equal, also of several users (R66)",
      "are refused while 32 others wait, and answered again afterwards (R66)",
    ],
  },
  {
    story:
      "A batch of 500 updates of a few bytes each made 91 MiB of changes, which no one in the room could read in time.",
    file: "test/room/stores.test.ts",
    titles: ["writes at most 3 MiB by one batch, however little its updates send (R40)"],
  },
  {
    story:
      "A room whose users showed more than 4 MiB closed each subscriber as too slow, and again when it came back.",
    file: "test/room/engine/presence/presence.test.ts",
    titles: [
      "of 16 MiB arrives in frames of at most 512 KiB, which wait for the marks of their client (R48, R49)",
      "that does not fit into a frame reaches everyone who subscribes, whatever changes meanwhile (R48, R49, R86)",
    ],
  },
  {
    story: "A thousand sockets that never joined locked the members of a room out.",
    file: "test/room/joining.test.ts",
    titles: [
      "gives way, if it has sent nothing and its address has the most, when 1,000 wait (R4)",
      "keeps its place while its token is verified; a further one is closed instead (R4)",
    ],
  },
  {
    story:
      "32 sockets that did not read made the process grow by two gigabytes in nine seconds, by broadcasts of 64 KB.",
    file: "test/room/engine/limits.test.ts",
    titles: ["ends for those who have the most unread when a room holds more than 64 MiB (R67)"],
  },
  {
    story:
      "A client that confirmed nothing was assumed to have read everything, and its unread output grew without an end.",
    file: "test/room/engine/limits.test.ts",
    titles: ["ends after 64 MiB, however slowly they are sent, if its client confirms nothing (R72)"],
  },
  {
    story:
      "An update of a document went to everyone who had it open in one turn, and other organizations waited for seconds.",
    file: "test/bugs/large-sends.test.ts",
    titles: [
      "an update of a document goes out to many over %s in portions, between which others get their turn (R58)",
    ],
  },
  {
    story:
      "A broadcast to 32 sockets was written in one turn, and every other room and request waited for it.",
    file: "test/room/transport/send-queues.test.ts",
    titles: ["are sent a large broadcast in chunks, in each of which others get their turn"],
  },
  {
    story:
      "A member could have 120 MB of large broadcasts sent at once, and everyone's messages waited behind them.",
    file: "test/room/message-queue.test.ts",
    titles: [
      "is refused if it is a broadcast beyond a burst of 10,000 points, and other work still runs (R69)",
    ],
  },
  {
    story:
      "A member opened one socket after the other and read none, and what the closed ones had been sent stayed in memory.",
    file: "test/bugs/unread-sockets.test.ts",
    titles: [
      "a closed socket with much to read counts as one of its user's until its connection has ended (R5, R72)",
    ],
  },
  {
    story:
      "A user whose socket was closed for flooding joined again at once, at the expense of the whole room.",
    file: "test/room/message-queue.test.ts",
    titles: [
      "waits for 5 s after a flood, and twice as long each time up to 60 s, until a calm minute (R70)",
    ],
  },
  {
    story:
      "A member whose large broadcasts were refused went on sending them, and the room went on reading them.",
    file: "test/room/engine/refused-frames.test.ts",
    titles: [
      "counts once more for each 8 KiB, and closes the socket that goes on (R85)",
      "counts once if it is small (R85)",
    ],
  },
  {
    story: "Others could use up a user's joins with forged tokens, or see that they were used up.",
    file: "test/room/message-queue.test.ts",
    titles: ["is neither held up by forged tokens nor given away by their answers (R70)"],
  },
  {
    story: "A user who came back all day left a budget in memory for each socket.",
    file: "test/cli/limits-memory.test.ts",
    titles: ["the budgets of sockets go with them, however few users there are"],
  },
  {
    story:
      "Ten thousand long comments stayed within their limits, and together they were more than the room's object had.",
    file: "test/room/engine/content/comments.test.ts",
    titles: ["the comments of a room have at most 64 MiB together, and can always become smaller (R46)"],
  },
  {
    story: "A join of a room with 100,000 past users read all of them in the database.",
    file: "test/room/engine/join/past-users.test.ts",
    titles: ["a join of a room with 100,000 past users costs what one with ten does"],
  },
  {
    story:
      "When many large rooms came back after a deploy, their joins were read a hundred users at a time, and the requests of others took five times as long.",
    file: "test/room/engine/join/join-reads.test.ts",
    titles: [
      "are read by one read at a time, those that wait together, and not for a socket that is gone (R66)",
    ],
  },
  {
    story: "Sockets that did not join set an alarm each, up to one in each millisecond.",
    file: "test/room/engine/participants/heartbeat.test.ts",
    titles: ["a thousand sockets that do not join need few alarms, and are closed at most 250 ms late (R2)"],
  },
  {
    story: "A hundred slow uploads took 800 MiB of memory from the rooms beside them.",
    file: "test/files/upload-memory.test.ts",
    titles: ["a hundred slow uploads leave room for others"],
  },
  {
    story: "A thousand requests of one organization at once kept all others of the process waiting.",
    file: "test/http/credential-buckets.test.ts",
    titles: [
      "has a hundred in each second, and is refused what would wait for more than five, beside another one",
    ],
  },
  {
    story: "One user used up the requests of the whole organization.",
    file: "test/http/floods.test.ts",
    titles: ["the tokens of users uses up neither the requests of other users nor those of the organization"],
  },
  {
    story: "The overview read every room and every user of the organization.",
    file: "test/http/growth.test.ts",
    titles: ["an organization with thousands of rooms and users reads as few rows as a small one"],
  },
  {
    story:
      "Deleted organizations were removed one after the other, always the same ones first: one whose objects did not respond held up all others for good.",
    file: "test/organizations/organizations.test.ts",
    titles: [
      "is removed though the rooms of others do not respond, and though others have much more to remove",
    ],
  },
];
