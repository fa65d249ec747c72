/** The entrypoint of a program's isolate: calls the program's function, and reports the outcome. */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { GuestAnswer } from "../runners/invocation.ts";
import type { HostBindings, RunInput, RunLimits } from "../runners/runner.ts";
import { openBindings, type ProgramSide } from "./bindings.ts";
import { Log, makeConsole } from "./console.ts";
import { apply, clearTimeout, NativePromise, setTimeout, stringify } from "./intrinsics.ts";
import { install, prepareGlobals } from "./prelude.ts";
import { ResultProblem, writeResult } from "./result.ts";
import { finishRun, isIsolateSpent, type Run, runHere, startRun, stopRun } from "./run.ts";
import { describeFailure } from "./text.ts";

interface RunState {
  readonly log: Log;
  readonly side: ProgramSide;
}

const runStates = new WeakMap<Run, RunState>();
const currentState = (): RunState | undefined => {
  const run = runHere();
  return run && runStates.get(run);
};

prepareGlobals(
  (error) => currentState()?.log.write("error", [`Uncaught: ${describeFailure(error)}`]) ?? (() => {}),
);
install(
  "console",
  makeConsole(() => currentState()?.log),
);
install("fetch", async (...args: Parameters<typeof fetch>) => {
  const side = currentState()?.side;
  if (side === undefined) throw new Error("fetch is there while the workflow's function runs");
  return side.fetch(...args);
});

type Outcome = Pick<GuestAnswer, "status" | "result">;

const failed = (result: string): Outcome => ({ status: "failed", result });

export default class Harness extends WorkerEntrypoint {
  /** A dispatch namespace accepts no script without this handler; it receives no requests. */
  override fetch(): Response {
    return new Response(null, { status: 404 });
  }

  /** Runs the program once, within the limits. Returns a {@link GuestAnswer} as JSON. */
  run(input: RunInput, host: HostBindings, limits: RunLimits): Promise<string> {
    return startRun(limits, async (run) => {
      const log = new Log(run);
      const side = openBindings(run, host, input);
      runStates.set(run, { log, side });
      const outcome = await raceTheClock(run, execute(run, side));
      if (run.stop === null) await rejectionsReported();
      const verdict = run.stop === null ? outcome : failed(run.stop);
      finishRun(run);
      return answerOf(verdict, log);
    });
  }
}

/** The platform reports unhandled rejections after all microtasks, when the function may have returned. */
const rejectionsReported = (): Promise<void> => new NativePromise((resolve) => setTimeout(resolve, 0));

/** A {@link GuestAnswer}, written from strings alone: the program could have given objects a `toJSON`. */
function answerOf({ status, result }: Outcome, { json }: Log): string {
  const spent = isIsolateSpent();
  return `{"status":"${status}","result":${stringify(result)},"isSpent":${spent},"logs":${json}}`;
}

/** The program's function, once its module is evaluated: importing it again costs as much as a short run. */
let handler: unknown;

async function execute(run: Run, { bindings }: ProgramSide): Promise<Outcome> {
  try {
    handler ??= (await import("./workflow.js")).default;
    if (typeof handler !== "function") return failed("The default export of the workflow is not a function");
    const result = await apply(handler, undefined, [bindings.event, bindings]);
    return { status: "success", result: writeResult(result, run.limits.resultBytes) };
  } catch (error) {
    return failed(error instanceof ResultProblem ? error.message : describeFailure(error));
  }
}

/** Enforces the wall time within the isolate: when the entrypoint returns, the platform ends its remaining work. */
function raceTheClock(run: Run, outcome: Promise<Outcome>): Promise<Outcome> {
  const { wallMs } = run.limits;
  return new NativePromise((resolve) => {
    const timer = setTimeout(() => stopRun(run, `The workflow took longer than ${wallMs / 1000} s`), wallMs);
    const settle = (settled: Outcome) => {
      clearTimeout(timer);
      resolve(settled);
    };
    run.onStop = () => settle(failed(run.stop ?? ""));
    outcome.then(settle, (error: unknown) => settle(failed(describeFailure(error))));
  });
}
