/** Bugs in what a room sends at once, and what it sends later. */
import type { Mutant } from "./mutant.ts";

const file = "src/room/transport/send-queues.ts";
const tests = ["test/room/transport/send-queues.test.ts"];
const limits = ["test/room/engine/limits.test.ts"];

export const SENDING: readonly Mutant[] = [
  {
    bug: "a small frame overtakes a large one that waits for the same socket",
    ...{ file, tests },
    code: "if (isAlone && socket.queued === null && this.#hasLeft()) {",
    by: "if (isAlone && this.#hasLeft()) {",
  },
  {
    bug: "an update of a document goes to everyone in one turn",
    file,
    code: "socket.queued === null && this.#hasLeft()",
    by: 'socket.queued === null && (typeof outgoing.frame !== "string" || this.#hasLeft())',
    tests: ["test/bugs/large-sends.test.ts"],
  },
  {
    bug: "all that waits for one socket goes out in one turn",
    ...{ file, tests },
    code: "while (next < queued.count && this.#left > reserved) {",
    by: "while (next < queued.count) {",
  },
  {
    bug: "what many sockets wait for is made anew for each of them",
    file: "src/room/transport/queued-frames.ts",
    tests,
    code: "if (known !== null && known.#last === outgoing) return known;",
    by: "",
  },
  {
    bug: "who has not read what was sent is never found for the room's sake",
    file: "src/room/transport/slow-readers.ts",
    code: "...slowestOf(sockets, ({ output }) => output.unread(now), UNREAD_IN_ROOM),",
    by: "",
    tests: limits,
  },
  {
    bug: "what was sent to clients that confirm nothing has no bound in the room",
    file: "src/room/transport/slow-readers.ts",
    code: "...slowestOf(sockets, ({ output }) => output.unconfirmed, UNCONFIRMED_IN_ROOM),",
    by: "",
    tests: limits,
  },
  {
    bug: "a socket that was closed unread takes memory, and no place",
    file: "src/room/engine/join/join-handshake.ts",
    code: " + this.#ports.closingOf(userId)",
    by: "",
    tests: ["test/bugs/unread-sockets.test.ts"],
  },
  {
    bug: "a socket that was closed unread takes a place for ever",
    file: "src/room/transport/sockets.ts",
    code: "this.#closing.delete(socket);",
    by: "",
    tests: ["test/bugs/unread-sockets.test.ts"],
  },
  {
    bug: "answers that are not read do not count",
    file: "src/room/transport/output.ts",
    code: " || this.unread(now) > MAX_UNREAD_BYTES;",
    by: ";",
    tests: limits,
  },
  {
    bug: "a large broadcast keeps all other rooms waiting until it is sent to everyone",
    ...{ file, tests },
    code: "const PORTION_BYTES = 512 * 1024;",
    by: "const PORTION_BYTES = Number.MAX_SAFE_INTEGER;",
  },
  {
    bug: "the rest of a large broadcast is sent with the next message only",
    ...{ file, tests },
    code: "else if (this.#timer === null) this.#runIn(0);",
    by: "",
  },
  {
    bug: "a broadcast costs as much for one receiver as for many",
    file: "src/room/protocol/costs.ts",
    code: "(Math.max(bytes, MIN_DELIVERY_BYTES) * receivers) /",
    by: "(Math.max(bytes, MIN_DELIVERY_BYTES) * Math.min(1, receivers)) /",
    tests: ["test/room/message-queue.test.ts"],
  },
  {
    bug: "one user's broadcasts may fill what waits to be sent in the room",
    file: "src/room/engine/message-queue.ts",
    code: "const buckets = [this.limits.ofUser(userId).broadcasts, this.#broadcasts];",
    by: "const buckets = [this.#broadcasts];",
    tests: ["test/room/message-queue.test.ts"],
  },
  {
    bug: "who waits without a word keeps others of the address out",
    file: "src/room/transport/waiting-sockets.ts",
    code: 'if (own !== undefined && own.size >= MAX_WAITING_PER_ADDRESS) return oldestSilent(own) ?? "none";',
    by: 'if (own !== undefined && own.size >= MAX_WAITING_PER_ADDRESS) return "none";',
    tests: ["test/room/joining.test.ts"],
  },
  {
    bug: "presence targets overflow what is kept with a socket",
    file: "src/room/engine/presence/subscriptions.ts",
    code: "if (byteLength(JSON.stringify(subscriptions)) > MAX_SUBSCRIPTION_BYTES)",
    by: "if (subscriptions.length > MAX_SUBSCRIPTION_BYTES)",
    tests: ["test/bugs/failing-effects.test.ts"],
  },
  {
    bug: "users follow ids that no one has",
    file: "src/room/engine/room-questions.ts",
    code: "const isGone = !userExists || ",
    by: "const isGone = ",
    tests: ["test/bugs/invented-follows.test.ts"],
  },
  {
    bug: "an answer waits behind what a crowd is sent",
    ...{ file, tests },
    code: "this.#sendTo(this.#answered, PORTION_BYTES / 2);",
    by: "",
  },
  {
    bug: "answers alone go out while there are some",
    ...{ file, tests },
    code: "this.#sendTo(this.#answered, PORTION_BYTES / 2);",
    by: "this.#sendTo(this.#answered, 0);",
  },
  {
    bug: "an event that takes long sends one portion after the other, where the clock goes on meanwhile",
    ...{ file, tests },
    code: "if (this.#isRequested && now !== this.#leftAt)",
    by: "if (now !== this.#leftAt)",
  },
  {
    bug: "answers that fill a portion each keep all others waiting",
    ...{ file, tests },
    code: "if (this.#left <= 0) this.#left = ofOthers;",
    by: "void ofOthers;",
  },
  {
    bug: "ticks of presence are queued faster than they can be sent",
    file: "src/room/transport/flush.ts",
    code: "this.#isSending = true;",
    by: "",
    tests: ["test/room/transport/flush.test.ts"],
  },
  {
    bug: "a tick seems to take as long as all that is sent beside it",
    ...{ file, tests },
    code: "return () => last === null || !this.#waiting.has(last);",
    by: "return () => this.#waiting.size === 0 || last === null;",
  },
  {
    bug: "a crowd that is asked at once whether it has read counts as slow",
    file: "src/room/transport/output.ts",
    code: "fairBytes: 2 * MEBIBYTE",
    by: "fairBytes: MEBIBYTE",
    tests: limits,
  },
];
