/** The running service is killed while members write to it: nothing acknowledged is lost, and nothing is done twice. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { KILLS_A_TALE, killTale, MEMBERS, tellOfKills } from "./kill-tale.ts";
import { KillableService } from "./killable-service.ts";
import { NetworkWorld } from "./network-world.ts";

const { seed, kills } = inject("endurance");
const numRuns = Math.ceil(kills / KILLS_A_TALE);
/** For starting, and for each tale on a machine that has much else to do. */
const [START_MS, TALE_MS] = [60_000, 60_000];

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.prepare();
});
afterAll(() => service?.dispose());

it(
  "what was acknowledged before a SIGKILL is there once and for all, and the room heals by itself",
  async () => {
    console.log(`Killing the service ${numRuns * KILLS_A_TALE} times, with seed ${seed}`);
    const toll = { acknowledged: 0, open: 0, done: 0 };
    const property = fc.asyncProperty(killTale, async (tale) => {
      const world = await NetworkWorld.create(service, MEMBERS);
      try {
        const { acknowledged, open, done } = await tellOfKills(world, tale);
        toll.acknowledged += acknowledged;
        toll.open += open;
        toll.done += done;
      } finally {
        world.dispose();
      }
    });
    await fc.assert(property, { seed, numRuns, endOnFailure: true });
    console.log(
      `${toll.acknowledged} requests were acknowledged; of ${toll.open} without an answer, ${toll.done} had been done`,
    );
    expect(toll.acknowledged).toBeGreaterThan(0);
  },
  START_MS + numRuns * TALE_MS,
);
