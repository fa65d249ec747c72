/** A copy of a store that is kept by one's own calls and by `changed` equals the store, whatever happens. */
import fc from "fast-check";
import { it } from "vitest";
import { run, scenario } from "./model/scenario.ts";

it("a copy equals its store in any order of writes, races, refusals, cuts, losses and reloads", async () => {
  await fc.assert(fc.asyncProperty(scenario, run), { numRuns: 200 });
});
