/** The tales of the simulated room, told again with real sockets, real crashes and the running service. */
import fc from "fast-check";
import { afterAll, beforeAll, inject, it } from "vitest";
import { tell } from "../realtime/convergence.ts";
import { tale } from "../realtime/convergence-steps.ts";
import { KillableService } from "./killable-service.ts";
import { NetworkWorld } from "./network-world.ts";

const { seed, tales } = inject("endurance");
/** For starting, and for each tale on a machine that has much else to do. */
const [START_MS, TALE_MS] = [60_000, 30_000];

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.prepare();
});
afterAll(() => service?.dispose());

it(
  "the running service comes to what the simulation comes to: one sequence, nothing lost, nothing twice",
  async () => {
    console.log(`Telling ${tales} tales to the running service, with seed ${seed}`);
    const property = fc.asyncProperty(tale, async (each) => {
      const world = await NetworkWorld.create(service, each[0]);
      try {
        await tell(world, each);
      } finally {
        world.dispose();
      }
    });
    await fc.assert(property, { seed, numRuns: tales, endOnFailure: true });
  },
  START_MS + tales * TALE_MS,
);
