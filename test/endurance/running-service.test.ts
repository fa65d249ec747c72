/** What the simulated room promises, the running service keeps: with real sockets, and SIGKILL at any moment. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { tell } from "../realtime/convergence/convergence.ts";
import { tale } from "../realtime/convergence/steps.ts";
import { KILLS_A_TALE, killTale, MEMBERS, tellOfKills } from "./kill-scenario.ts";
import { KillableService } from "./killable-service.ts";
import { NetworkWorld } from "./network-room.ts";

const { seed, tales, kills } = inject("endurance");
const killTales = Math.ceil(kills / KILLS_A_TALE);
/** For starting, and for each tale on a machine that has much else to do. */
const [START_MS, TALE_MS] = [60_000, 60_000];

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.prepare();
});
afterAll(() => service?.dispose());

/** Gives each tale a room of its own. */
async function inRoom(members: number, happen: (world: NetworkWorld) => Promise<void>): Promise<void> {
  const world = await NetworkWorld.create(service, members);
  try {
    await happen(world);
  } finally {
    world.dispose();
  }
}

it(
  "members who vanish, come back and send again come to one sequence: nothing is lost, nothing is done twice",
  async () => {
    console.log(`Telling ${tales} tales to the running service, with seed ${seed}`);
    const property = fc.asyncProperty(tale, (each) => inRoom(each[0], (world) => tell(world, each)));
    await fc.assert(property, { seed, numRuns: tales, endOnFailure: true });
  },
  START_MS + tales * TALE_MS,
);

it(
  "what was acknowledged before a SIGKILL is there once and for all, and the room heals by itself",
  async () => {
    console.log(`Killing the service ${killTales * KILLS_A_TALE} times, with seed ${seed}`);
    const toll = { acknowledged: 0, open: 0, done: 0 };
    const property = fc.asyncProperty(killTale, (each) =>
      inRoom(MEMBERS, async (world) => {
        const { acknowledged, open, done } = await tellOfKills(world, each);
        toll.acknowledged += acknowledged;
        toll.open += open;
        toll.done += done;
      }),
    );
    await fc.assert(property, { seed, numRuns: killTales, endOnFailure: true });
    console.log(
      `${toll.acknowledged} requests were acknowledged; of ${toll.open} without an answer, ${toll.done} had been done`,
    );
    expect(toll.acknowledged).toBeGreaterThan(0);
  },
  START_MS + killTales * TALE_MS,
);
