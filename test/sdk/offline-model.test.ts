/** What is kept on the device survives crashes at any moment, is sent once, and catches up, in a room in memory. */
import fc from "fast-check";
import { inject, it } from "vitest";
import { offlineScenario, runOffline } from "./model/offline-scenario.ts";

const { seed, inMemory } = inject("endurance");

it("no kept write is lost or made twice, and all stores agree, whenever pages crash", async () => {
  await fc.assert(fc.asyncProperty(offlineScenario, runOffline), { seed, numRuns: inMemory });
});
