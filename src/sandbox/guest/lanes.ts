/** The calls that a run makes of the service: so many in flight, so many in all. */

import type { BindingAnswer } from "../runners/runner.ts";
import { NativeError, NativePromise, push } from "./intrinsics.ts";
import { type Run, stopRun } from "./run.ts";

/** Calls of one run that may be in flight at once, like the six connections of a Worker; others wait. */
const MAX_IN_FLIGHT = 6;

/** Limits the calls of a run, and those in flight. */
export class Lanes {
  readonly #run: Run;
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  #calls = 0;
  #inFlight = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  async call<T>(work: () => PromiseLike<BindingAnswer<T>>): Promise<T> {
    const { limits, stop } = this.#run;
    if (stop !== null) throw new NativeError(stop);
    const { calls } = limits;
    this.#calls += 1;
    if (this.#calls > calls) {
      throw stopRun(this.#run, `The workflow made more than ${calls} calls of its bindings`);
    }
    if (this.#inFlight === MAX_IN_FLIGHT) await new NativePromise<void>((go) => push(this.#waiting, go));
    else this.#inFlight += 1;
    try {
      const answer = await work();
      if ("problem" in answer) throw new NativeError(answer.problem);
      return answer.value;
    } finally {
      this.#leave();
    }
  }

  /** Passes the slot to the call that has waited longest. */
  #leave(): void {
    const go = this.#waiting[this.#next];
    this.#next += 1;
    if (go === undefined) {
      this.#next -= 1;
      this.#inFlight -= 1;
    } else go();
  }
}
