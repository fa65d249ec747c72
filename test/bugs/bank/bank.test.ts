/** Each story of the bug bank names tests that exist, by the titles that stand in their file. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, "../../..", file), "utf8");

/** True when the source has a test or a group of tests with this title, which is the first argument of a call. */
const hasTitle = (source: string, title: string): boolean =>
  source
    .split(JSON.stringify(title))
    .slice(0, -1)
    .some((before) => before.trimEnd().endsWith("("));

it("has the tests that each story names", () => {
  const sections = read("test/bugs/bank/bank.md").split(/^## /m).slice(1);
  const missing = sections.flatMap((section) => {
    const [file = "", ...lines] = section.split("\n");
    const source = read(file);
    const titles = lines.filter((line) => line.startsWith("- ")).map((line) => line.slice(2));
    return titles.filter((title) => !hasTitle(source, title)).map((title) => `${file}: ${title}`);
  });
  expect(sections.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});
