/** Selecting rows of a list. */
import { expect, it } from "vitest";
import { NONE, type Selected, switchAll, switchRow } from "../../src/dashboard/page/data/use-selection.ts";

const ROWS = ["a", "b", "c", "d", "e"];

/** The selection after these clicks; one with a `+` was made with Shift. */
const after = (...clicks: string[]): Selected =>
  clicks.reduce(
    (selected, click) => switchRow(selected, ROWS, click.replace("+", ""), click.endsWith("+")),
    NONE,
  );
const idsOf = ({ ids }: Selected): string => [...ids].sort().join("");

it("switches one row and keeps the others", () => {
  expect(idsOf(after("b", "d"))).toBe("bd");
  expect(idsOf(after("b", "d", "b"))).toBe("d");
});

it("extends from the row before in both directions, to what the clicked row becomes", () => {
  expect(idsOf(after("b", "d+"))).toBe("bcd");
  expect(idsOf(after("d", "b+"))).toBe("bcd");
  expect(idsOf(after("a", "e+", "d", "b+"))).toBe("ae");
});

it("selects one row when there is none before, or when that is not shown any more", () => {
  expect(idsOf(after("c+"))).toBe("c");
  expect(idsOf(switchRow({ ids: new Set(), anchor: "gone" }, ROWS, "c", true))).toBe("c");
});

it("selects all rows, and then none", () => {
  const all = switchAll(after("c"), ROWS);
  expect(idsOf(all)).toBe("abcde");
  expect(switchAll(all, ROWS)).toEqual(NONE);
});
