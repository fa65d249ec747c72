/** Ten thousand short histories of people who type, and programs that edit what the people type into. */
import { expect, it } from "vitest";
import { EditHistory, FORMS, type Outcome } from "./edit-histories.ts";

const HISTORIES = 10_000;
const STEPS = 25;

it("no typed character is lost, and each edit of a program is there once or refused, in any order", () => {
  const total: Outcome = { applied: 0, refused: 0, overtaken: 0, pieces: 0 };
  for (let seed = 0; seed < HISTORIES; seed += 1)
    for (const form of FORMS.filter((_, index) => seed % FORMS.length === index)) {
      const history = new EditHistory(seed, form);
      try {
        history.run(STEPS);
      } catch (error) {
        throw new Error(`Seed ${seed}, ${form}`, { cause: error });
      }
      for (const key of ["applied", "refused", "overtaken", "pieces"] as const)
        total[key] += history.outcome[key];
    }
  // Histories in which nothing met would prove nothing.
  expect(Math.min(total.applied, total.refused, total.pieces)).toBeGreaterThan(HISTORIES / 2);
  expect(total.overtaken).toBeGreaterThan(HISTORIES / 20);
}, 600_000);
