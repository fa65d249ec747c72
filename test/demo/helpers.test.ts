/** How the helpers of the demo move and what they draw. */
import { expect, it } from "vitest";
import { FIGURES, pointsOf, wayBetween } from "../../src/demo/page/helpers/motion.ts";
import { MAX_POINTS } from "../../src/demo/page/room/shape.ts";

it("a hand ends where it should, and is slow at both ends", () => {
  const [from, to] = [
    { x: -100, y: 40 },
    { x: 500, y: -200 },
  ];
  for (const chance of [0, 0.5, 1]) {
    const way = [from, ...wayBetween(from, to, () => chance)];
    expect(way.at(-1)).toEqual(to);
    const lengths = way.slice(1).map(({ x, y }, index) => {
      const before = way[index] ?? from;
      return Math.hypot(x - before.x, y - before.y);
    });
    const fastest = Math.max(...lengths);
    expect(fastest).toBeLessThan(70);
    expect(lengths[0]).toBeLessThan(fastest / 2);
    expect(lengths.at(-1)).toBeLessThan(fastest / 2);
  }
});

it("a hand that stays still stays where it is", () => {
  const place = { x: 7, y: 7 };
  expect(new Set(wayBetween(place, place, () => 1).map(({ x, y }) => `${x},${y}`))).toEqual(new Set(["7,7"]));
});

it("figures fit beside notes, and into one shape", () => {
  for (const figure of FIGURES) {
    const points = pointsOf(figure, { x: 0, y: 0 });
    expect(points.length).toBeLessThanOrEqual(2 * MAX_POINTS);
    expect(Math.max(...points.map(Math.abs))).toBeLessThanOrEqual(60);
    expect(points.every(Number.isInteger)).toBe(true);
  }
});
