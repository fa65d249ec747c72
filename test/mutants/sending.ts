/** Bugs in what a room sends at once, and what it sends later. */
import type { Mutant } from "./mutant.ts";

const file = "src/realtime/transport/send-queues.ts";
const tests = ["test/realtime/send-queues.test.ts"];
const limits = ["test/realtime/limits.test.ts"];

export const SENDING: readonly Mutant[] = [
  {
    bug: "a small frame overtakes a large one that waits for the same socket",
    ...{ file, tests },
    code: "if (isAlone && socket.queued.length === 0 && this.#hasLeft()) {",
    by: "if (isAlone && this.#hasLeft()) {",
  },
  {
    bug: "an update of a document goes to everyone in one turn",
    file,
    code: "socket.queued.length === 0 && this.#hasLeft()",
    by: 'socket.queued.length === 0 && (typeof outgoing.frame !== "string" || this.#hasLeft())',
    tests: ["test/bugs/large-sends.test.ts"],
  },
  {
    bug: "all that waits for one socket goes out in one turn",
    ...{ file, tests },
    code: "while (next < queued.length && left() > 0) {",
    by: "while (next < queued.length) {",
  },
  {
    bug: "who has not read what was sent is never found for the room's sake",
    file: "src/realtime/transport/slow-readers.ts",
    code: "...slowestOf(sockets, ({ output }) => output.unread(now), UNREAD_IN_ROOM),",
    by: "",
    tests: limits,
  },
  {
    bug: "what was sent to clients that confirm nothing has no bound in the room",
    file: "src/realtime/transport/slow-readers.ts",
    code: "...slowestOf(sockets, ({ output }) => output.unconfirmed, UNCONFIRMED_IN_ROOM),",
    by: "",
    tests: limits,
  },
  {
    bug: "answers that are not read do not count",
    file: "src/realtime/transport/output.ts",
    code: " || this.unread(now) > MAX_UNREAD_BYTES;",
    by: ";",
    tests: limits,
  },
  {
    bug: "a large broadcast keeps all other rooms waiting until it is sent to everyone",
    ...{ file, tests },
    code: "if (this.#left <= 0) break;",
    by: "",
  },
  {
    bug: "the rest of a large broadcast is sent with the next message only",
    ...{ file, tests },
    code: "else if (this.#timer === null) this.#runIn(0);",
    by: "",
  },
];
