/** What every runner owes: a bad program fails with a reason that its author understands, and nobody else notices. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Runner, RunReport } from "../../src/workflows/runner.ts";
import {
  CALLS,
  FAILURES,
  FETCHES,
  HOGS,
  type HostileProgram,
  LOOPS,
  NATIVES,
  RESULTS,
} from "./hostile-programs.ts";
import { runProgram, type Stage, stage } from "./support.ts";

const LIMITS = { wallMs: 2_000, turnMs: 300 };
/** Far more than the second that a run may outlast its limit by, on a machine that has other things to do. */
const PATIENCE_MS = 20_000;

const GROUPS: readonly (readonly [string, readonly HostileProgram[]])[] = [
  ["loops", LOOPS],
  ["memory", HOGS],
  ["the language's own functions", NATIVES],
  ["results", RESULTS],
  ["failures", FAILURES],
  ["fetch", FETCHES],
  ["calls", CALLS],
];

export function describeRunner(name: string, makeRunner: () => Runner): void {
  describe(`${name} ends a program that`, () => {
    let runner: Runner;
    let villain: Stage;
    let neighbour: Stage;
    beforeAll(async () => {
      runner = makeRunner();
      [villain, neighbour] = await Promise.all([stage("A villain's room"), stage("A neighbour's room")]);
    });

    const neighbourRuns = (): Promise<RunReport> =>
      runProgram(runner, neighbour, "export default (_, { room }) => room.get();", { devTargets: [] });
    const roomAnswers = () => neighbour.api.get(`/rooms/${neighbour.roomId}/stores`);

    describe.each(GROUPS)("by %s", (_, programs) => {
      it.each(programs)("$does", async ({ source, told }) => {
        const hostile = runProgram(runner, villain, source, { limits: LIMITS, devTargets: [] });
        const [report, run, room] = await Promise.all([hostile, neighbourRuns(), roomAnswers()]);
        expect(report).toMatchObject({
          status: "failed",
          result: told instanceof RegExp ? expect.stringMatching(told) : told,
        });
        expect(report.durationMs).toBeLessThan(LIMITS.wallMs + PATIENCE_MS);
        expect(run).toMatchObject({
          status: "success",
          result: expect.stringContaining("A neighbour's room"),
        });
        expect(room).toMatchObject({ status: 200 });
      });
    });
  });
}
