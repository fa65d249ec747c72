/** Bugs in what a room sends at once, and what it sends later. */
import type { Mutant } from "./mutant.ts";

const file = "src/realtime/transport/send-queues.ts";
const tests = ["test/realtime/send-queues.test.ts"];

export const SENDING: readonly Mutant[] = [
  {
    bug: "a small frame overtakes a large one that waits for the same socket",
    ...{ file, tests },
    code: "if (!socket.batches && socket.queued.length === 0 && this.#hasLeft()) {",
    by: "if (!socket.batches && this.#hasLeft()) {",
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
