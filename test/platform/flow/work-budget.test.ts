/** Work budgets: chunks until the work is done or the budget is spent. */
import { expect, it } from "vitest";
import { WorkBudget } from "../../../src/platform/flow/work-budget.ts";

const chunks = (count: number) => {
  let left = count;
  return async () => {
    left -= 1;
    return left > 0;
  };
};

it("work ends after its last chunk, or when the budget is spent", async () => {
  const budget = new WorkBudget(5);
  expect(await budget.run(chunks(3))).toBe(true);
  expect(await budget.run(chunks(3))).toBe(false);
  expect([budget.hasLeft, await budget.run(chunks(1))]).toEqual([false, false]);
});

it("a part spends from the whole, and stops with it", async () => {
  const whole = new WorkBudget(3);
  const part = new WorkBudget(2, whole);
  expect(await part.run(chunks(9))).toBe(false);
  expect(whole.hasLeft).toBe(true);
  whole.spend();
  expect(new WorkBudget(2, whole).hasLeft).toBe(false);
});
