/** Each story of the bug bank names tests that exist, and each test file of `test/bugs` has a story. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BUGS } from "./bank.ts";
import { findMissingTitles } from "./bug.ts";

const ROOT = path.join(import.meta.dirname, "../../..");

it.each(BUGS)("$story", (bug) => {
  expect(findMissingTitles(bug, readFileSync(path.join(ROOT, bug.file), "utf8"))).toEqual([]);
});

it("a title that is only mentioned, or only begins like one, is missing", () => {
  const bug = { story: "", file: "", titles: ["is kept", "is", "is lost"] } as const;
  expect(findMissingTitles(bug, 'it("is kept", () => {}); // "is lost"')).toEqual(["is", "is lost"]);
});

it("tells each story once, in one sentence", () => {
  const stories = BUGS.map(({ story }) => story);
  expect(stories.filter((story, index) => stories.indexOf(story) !== index)).toEqual([]);
  expect(stories.filter((story) => !/^[A-Z0-9].*\w\.$/.test(story) || /[.!?] /.test(story))).toEqual([]);
});

it("has a story of each file beside it", () => {
  const files = globSync("test/bugs/*.test.ts", { cwd: ROOT });
  const held = new Set(BUGS.map(({ file }) => file));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !held.has(file))).toEqual([]);
});
