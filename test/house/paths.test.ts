/** Holds how many modules a warm request passes through. */
import { beforeAll, expect, it } from "vitest";
import { PATH_BOUNDS } from "./measures.ts";
import { measurePaths, type Path } from "./paths.ts";

let paths: readonly Path[];
beforeAll(async () => {
  paths = await measurePaths();
});

it.each(PATH_BOUNDS)("$name runs at most $bound modules", ({ name, bound }) => {
  const path = paths.find((measured) => measured.name === name);
  expect(path?.modules.length).toBeGreaterThan(0);
  expect(path?.modules.length).toBeLessThanOrEqual(bound);
});
