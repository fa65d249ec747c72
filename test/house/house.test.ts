/** Holds the size of the repository. */
import { expect, it } from "vitest";
import { MEASURES } from "./measures.ts";

it.each(MEASURES)("has at most $bound $name", ({ today, bound }) => {
  expect(today).toBeLessThanOrEqual(bound);
});
