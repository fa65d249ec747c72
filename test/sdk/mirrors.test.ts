/** A copy of a store that is kept by one's own calls and by `changed` equals the store, whatever happens. */
import fc from "fast-check";
import { inject, it } from "vitest";
import { run, scenario } from "./model/scenario.ts";

const { seed, inMemory } = inject("endurance");

it("a copy equals its store in any order of writes, races, refusals, cuts, losses, reloads, downloads and backups (R78, R79)", async () => {
  await fc.assert(fc.asyncProperty(scenario, run), { seed, numRuns: inMemory });
});
