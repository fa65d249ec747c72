/** Differences of lines: both texts can be read from them, and they are as few as possible. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiffLine, diffLines } from "../../src/dashboard/page/ui/line-diff.ts";

const shown = (before: string, after: string): string =>
  diffLines(before, after)
    .map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`)
    .join("|");

describe("the difference of two texts", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", " a| b| c"],
    ["a\nb\nc", "a\nx\nc", " a|-b|+x| c"],
    ["a\nb", "b\na", "-a| b|+a"],
    ["", "a", "+a"],
    ["a\na", "a", " a|-a"],
  ])("lists lines: %j, %j", (before, after, expected) => {
    expect(shown(before, after)).toBe(expected);
  });

  it("holds both texts, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "", "c"), { minLength: 1, maxLength: 12 });
    const without = (lines: readonly DiffLine[], left: DiffLine["kind"]) =>
      lines.filter(({ kind }) => kind !== left).map((line) => line.text);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before.join("\n"), after.join("\n"));
        const kept = [without(lines, "added"), without(lines, "removed")];
        expect(kept.map((one) => one.join("\n"))).toEqual([before.join("\n"), after.join("\n")]);
      }),
    );
  });

  it("replaces everything in texts that differ in too many lines", () => {
    const long = (name: string) => ["first", ...Array.from({ length: 3_000 }, (_, i) => name + i), "last"];
    const lines = diffLines(long("a").join("\n"), long("b").join("\n"));
    const texts = (kind: DiffLine["kind"]) =>
      lines.filter((line) => line.kind === kind).map(({ text }) => text);
    expect([texts("removed"), texts("added")]).toEqual([long("a"), long("b")]);
  });
});
