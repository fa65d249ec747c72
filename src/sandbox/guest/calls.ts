/** The calls that a run makes of the service. */
import type { BindingAnswer } from "../runners/runner.ts";
import { NativeError } from "./intrinsics.ts";
import { type Run, stopRun } from "./run.ts";

/** Stops a run that makes too many calls. The service counts them too: this gives the reason. */
export class Calls {
  readonly #run: Run;
  #count = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  async make<T>(call: () => PromiseLike<BindingAnswer<T>>): Promise<T> {
    const { limits, stop } = this.#run;
    if (stop !== null) throw new NativeError(stop);
    this.#count += 1;
    if (this.#count > limits.calls) {
      throw stopRun(this.#run, `The workflow made more than ${limits.calls} calls of its bindings`);
    }
    const answer = await call();
    if ("problem" in answer) throw new NativeError(answer.problem);
    return answer.value;
  }
}
