/** Each story of the bug bank names tests that exist. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BUGS } from "./bank.ts";
import { findMissingTitles } from "./bug.ts";

const ROOT = path.join(import.meta.dirname, "../../..");

it("has the tests that each story names", () => {
  const missing = BUGS.flatMap((bug) =>
    findMissingTitles(bug, readFileSync(path.join(ROOT, bug.file), "utf8")).map(
      (title) => `${bug.file}: ${title}`,
    ),
  );
  expect(missing).toEqual([]);
});
