/** The running service keeps the promises of the simulated room, with real sockets and SIGKILL at any moment. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { runScenario } from "../../room/convergence/convergence.ts";
import { scenario } from "../../room/convergence/steps.ts";
import { randomOf } from "../../support/random.ts";
import { writtenDuring } from "../sdk/console.ts";
import { killUnderRemovals } from "./access-kills.ts";
import { killUnderBackups } from "./backup-kills.ts";
import { killUnderClients } from "./client-kills.ts";
import { killUnderDocuments } from "./document-kills.ts";
import { KILLS_PER_SCENARIO, killScenario, MEMBERS, runKillScenario } from "./kill-scenario.ts";
import { KillableService } from "./killable-service.ts";
import { NetworkRoom } from "./network-room.ts";
import { killUnderStreams } from "./stream-kills.ts";
import { killUnderWorkflows } from "./workflow-kills.ts";

const { seed, scenarios, kills, ...runs } = inject("endurance");
const { clientKills, documentKills, streamKills, workflowKills, backupKills, accessRooms } = runs;
const killScenarios = Math.ceil(kills / KILLS_PER_SCENARIO);
/** Limits for the start, and for each scenario on a busy machine. */
const [START_MS, SCENARIO_MS] = [240_000, 120_000];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.prepare();
});
afterAll(() => service?.dispose());

/** Runs a scenario in a room of its own. */
async function inRoom(members: number, play: (world: NetworkRoom) => Promise<void>): Promise<void> {
  const world = await NetworkRoom.create(service, members);
  try {
    await play(world);
  } finally {
    world.dispose();
  }
}

it(
  "users who disconnect, reconnect and resend agree on one sequence: nothing is lost or applied twice",
  async () => {
    console.log(`Running ${scenarios} scenarios on the running service, with seed ${seed}`);
    const property = fc.asyncProperty(scenario, (each) =>
      inRoom(each[0], (world) => runScenario(world, each)),
    );
    await fc.assert(property, { seed, numRuns: scenarios, endOnFailure: true });
  },
  START_MS + scenarios * SCENARIO_MS,
);

it(
  "a write that was acknowledged before a SIGKILL is applied exactly once, and the room recovers by itself",
  async () => {
    console.log(`Killing the service ${killScenarios * KILLS_PER_SCENARIO} times, with seed ${seed}`);
    const sum = { acknowledged: 0, open: 0, done: 0 };
    const property = fc.asyncProperty(killScenario, (each) =>
      inRoom(MEMBERS, async (world) => {
        const { acknowledged, open, done } = await runKillScenario(world, each);
        sum.acknowledged += acknowledged;
        sum.open += open;
        sum.done += done;
      }),
    );
    await fc.assert(property, { seed, numRuns: killScenarios, endOnFailure: true });
    console.log(
      `${sum.acknowledged} requests were acknowledged; of ${sum.open} without an answer, ${sum.done} had taken effect`,
    );
    expect(sum.acknowledged).toBeGreaterThan(0);
  },
  START_MS + killScenarios * SCENARIO_MS,
);

it(
  "clients of the SDK lose and repeat nothing when the service is killed under them, and write nothing to the console",
  async () => {
    let acknowledged = 0;
    const written = await writtenDuring(async () => {
      for (let room = 0; room * KILLS_PER_SCENARIO < clientKills; room += 1) {
        const kills = Math.min(KILLS_PER_SCENARIO, clientKills - room * KILLS_PER_SCENARIO);
        ({ acknowledged } = await killUnderClients(service, kills, randomOf(seed + room)));
      }
    });
    expect(written).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  },
  START_MS + clientKills * SCENARIO_MS,
);

it(
  "documents lose, repeat and mix up nothing over any wire when the service is killed under editors and programs",
  async () => {
    console.log(`Killing the service ${documentKills} times under documents, with seed ${seed}`);
    let kept = 0;
    for (let room = 0; room * KILLS_PER_SCENARIO < documentKills; room += 1) {
      const kills = Math.min(KILLS_PER_SCENARIO, documentKills - room * KILLS_PER_SCENARIO);
      for (const programs of [0, 2])
        kept += (await killUnderDocuments(service, kills, randomOf(seed + room), programs)).kept;
    }
    console.log(`${kept} edits are there once`);
    expect(kept).toBeGreaterThan(0);
  },
  START_MS + 2 * documentKills * SCENARIO_MS,
);

it(
  "a stream has each append of a producer once and in order when the service is killed under it",
  async () => {
    console.log(`Killing the service ${streamKills} times under streams, with seed ${seed}`);
    const { appends } = await killUnderStreams(service, streamKills, randomOf(seed));
    console.log(`${appends} appends are there once`);
    expect(appends).toBeGreaterThan(0);
  },
  START_MS + streamKills * SCENARIO_MS,
);

it(
  "with retries each event of a workflow ends, and its actions happen once, when the service is killed under its runs",
  async () => {
    console.log(`Killing the service ${workflowKills} times under workflows, with seed ${seed}`);
    let events = 0;
    for (let room = 0; room * KILLS_PER_SCENARIO < workflowKills; room += 1) {
      const kills = Math.min(KILLS_PER_SCENARIO, workflowKills - room * KILLS_PER_SCENARIO);
      events += (await killUnderWorkflows(service, kills, randomOf(seed + room))).events;
    }
    console.log(`${events} events were run on, with two actions each`);
    expect(events).toBeGreaterThan(0);
  },
  START_MS + workflowKills * SCENARIO_MS,
);

it(
  "backups and the restore of an organization are whole, however often their commands are killed",
  async () => {
    console.log(`Killing commands that back up ${backupKills} times, with seed ${seed}`);
    const { backups } = await killUnderBackups(service, backupKills, randomOf(seed));
    console.log(`${backups} backups are as one that was not interrupted`);
  },
  START_MS + (backupKills + 5) * SCENARIO_MS,
);

it(
  "access that ends stays ended when the service is killed meanwhile, in all rooms of a person, and others keep theirs",
  async () => {
    console.log(`Killing the service under removals from ${accessRooms} rooms, with seed ${seed}`);
    for (const removal of await killUnderRemovals(service, accessRooms, randomOf(seed)))
      console.log(
        `Killed ${removal.wasAnswered ? "after" : "before"} the answer: at the start, ${removal.pending} rooms had yet ` +
          `to learn of it; the person was refused within ${seconds(removal.refusedP99)} (p99) and ` +
          `${seconds(removal.refused)} (all), and all rooms knew after ${seconds(removal.learned)}; ` +
          `of ${removal.late} writes after the answer, none is there`,
      );
  },
  START_MS + accessRooms * 1_000,
);
