/** Hostile programs, in a dispatch namespace. */
import { dispatchRunner } from "./dispatch-runner.ts";
import { describeRunner } from "./runner-contract.ts";

describeRunner("the dispatch runner", () => dispatchRunner().runner);
