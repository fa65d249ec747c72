/** Programs that use time or memory without end, against the running service: each ends with its reason, and disturbs no one. */

import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { beforeAll, expect, inject, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { memoryOfService, Neighbour, noWaits, Owner, waitOf } from "./neighbour.ts";
import { ALL, TYPICAL } from "./runaway-programs.ts";
import type { RunawayProgram } from "./runaway-shape.ts";

const { runaways } = inject("endurance");
const programs = runaways === 0 ? TYPICAL : ALL.slice(0, runaways);
/** How often the neighbour works alone first. */
const ALONE = runaways === 0 ? 1 : 100;
/** How many endless programs one organization starts at once. */
const AT_ONCE = runaways === 0 ? 8 : 20;
/** Limit for each program, on a busy machine. */
const PROGRAM_MS = 120_000;

let villain: Owner;
let neighbour: Neighbour;
let memoryBefore: ReturnType<typeof memoryOfService>;
beforeAll(async () => {
  villain = await Owner.create(await sharedService());
  neighbour = await Neighbour.create(await sharedService());
  await neighbour.work(noWaits());
  for (let count = 0; count < ALONE; count += 1) await neighbour.work(alone);
  memoryBefore = memoryOfService();
}, PROGRAM_MS);

/** Waiting times of the neighbour, without and beside the programs. */
const [alone, beside] = [noWaits(), noWaits()];

it.each(programs)(
  "a program that $does ends, and its neighbour works on",
  async ({ source, result }: RunawayProgram) => {
    const workflow = await villain.save(source);
    expect(workflow).toMatchObject({ enabled: true });
    const run = villain.run(workflow);
    await neighbour.workBeside(run, beside);
    const { execution } = (await run).data;
    if (result !== null)
      expect(execution).toMatchObject({ status: "failed", result: expect.stringMatching(result) });
    expect(execution.result).not.toMatch(/could not be started|internal error/);
  },
  PROGRAM_MS,
);

it(
  "a program that was killed in two runs in a row is switched off with the reason, until it is changed",
  async () => {
    const workflow = await villain.save("export default () => { for (;;); };");
    for (let count = 0; count < 2; count += 1) {
      expect((await villain.run(workflow)).data.execution).toMatchObject({ status: "failed" });
    }
    const path = `/workflows/${workflow.id}`;
    const read = await villain.customer.send<{ workflow: Workflow }>("GET", path);
    expect(read.data.workflow).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining("had to be killed"),
    });
    expect(await villain.run(workflow)).toMatchObject({ status: 409 });
    const code = "export default () => 'better';";
    await villain.customer.send("PATCH", path, { code, enabled: true });
    expect((await villain.run(workflow)).data.execution).toMatchObject({ result: '"better"' });
  },
  2 * PROGRAM_MS,
);

it(
  "many endless programs of one organization at once hold up no run of another one",
  async () => {
    const workflows: Workflow[] = [];
    for (let count = 0; count < AT_ONCE; count += 1) {
      workflows.push(await villain.save(`export default () => { for (;;); }; // ${count}`));
    }
    let ended = 0;
    const runs = workflows.map(async (workflow) => {
      await villain.run(workflow);
      ended += 1;
    });
    await Promise.race(runs);
    const waits = noWaits();
    await neighbour.work(waits);
    expect(ended).toBeLessThan(AT_ONCE);
    if (runaways > 0)
      console.log(`Beside ${AT_ONCE} programs a run took ${waitOf(waits.runs, 1)} ms: ${ended} had ended`);
    await Promise.all(runs);
  },
  2 * PROGRAM_MS,
);

it(
  "the neighbour was served throughout, and the processes of the programs end",
  async () => {
    expect(beside.runs.length).toBeGreaterThanOrEqual(programs.length);
    if (runaways === 0) return;
    const memoryAtEnd = memoryOfService();
    // Processes without work end after half a minute.
    await eventually("the processes have ended", () => memoryOfService().processes <= memoryBefore.processes);
    const inWords = ({ processes, mib }: typeof memoryBefore) => `${mib} MiB in ${processes} processes`;
    console.log(
      [
        `Beside ${programs.length} programs, another organization waited for`,
        `its runs: ${compare(alone.runs, beside.runs)}`,
        `its room's writes: ${compare(alone.writes, beside.writes)}`,
        `workerd had ${inWords(memoryBefore)} before, ${inWords(memoryAtEnd)} at the end, ${inWords(memoryOfService())} afterwards`,
      ].join("\n"),
    );
  },
  PROGRAM_MS,
);

function compare(without: readonly number[], withThem: readonly number[]): string {
  const [before, during] = [waitOf(without, 0.95), waitOf(withThem, 0.95)];
  const medians = `p50 ${waitOf(without, 0.5)} ms alone, ${waitOf(withThem, 0.5)} ms beside them`;
  return `${medians}; p95 ${before} ms alone, ${during} ms beside them (${(during / before).toFixed(2)})`;
}
