/** Bugs in the delivery of events to subscribers. */
import type { Mutant } from "./mutant.ts";

const SCHEDULER = "src/delivery/subscriber/scheduler.ts";
const SCHEDULER_TESTS = ["test/delivery/scheduler.test.ts"];

export const DELIVERY: readonly Mutant[] = [
  {
    bug: "two first attempts of one room run at the same time",
    file: SCHEDULER,
    code: "this.#busyLanes.add(job.lane);",
    by: "",
    tests: SCHEDULER_TESTS,
  },
  {
    bug: "a rest that was asked for never ends",
    file: SCHEDULER,
    code: "Math.min(Math.max(this.#pausedUntil, now) + ms, now + maxMs)",
    by: "Math.max(this.#pausedUntil, now) + ms",
    tests: SCHEDULER_TESTS,
  },
];
