/** Random suggestions, reviewed in part while others write. */
import { expect, it } from "vitest";
import { type Counts, SuggestionHistory } from "./suggestion-histories.ts";

const HISTORIES = 300;

it("parts that are accepted are in the document, the others are not, and nothing that others wrote is lost", () => {
  const total: Counts = { parts: 0, accepted: 0, stale: 0, formats: 0, sets: 0, untouched: 0 };
  for (let seed = 0; seed < HISTORIES; seed += 1)
    try {
      const history = new SuggestionHistory(seed);
      history.check();
      for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += history.counts[key];
    } catch (error) {
      throw new Error(`Seed ${seed}`, { cause: error });
    }
  // Histories in which nothing met would prove nothing.
  expect(Math.min(...Object.values(total))).toBeGreaterThan(HISTORIES / 20);
}, 600_000);
