/** The lines of shapes: what an eraser hits, and what is drawn. */
import { expect, it } from "vitest";
import { distanceTo, pathOf } from "../../src/demo/page/canvas/geometry.ts";
import type { Kind } from "../../src/demo/page/room/shape.ts";

const shape = (kind: Kind, ...points: number[]) => ({ kind, tint: 0, points });

it("the distance to a shape is that to its lines, and not to what they enclose", () => {
  const middle = { x: 50, y: 50 };
  expect(distanceTo(shape("box", 0, 0, 100, 100), middle)).toBeCloseTo(50);
  expect(distanceTo(shape("oval", 0, 0, 100, 100), middle)).toBeCloseTo(50, 0);
  expect(distanceTo(shape("arrow", 0, 0, 100, 100), middle)).toBeCloseTo(0);
  expect(distanceTo(shape("pen", 0, 0, 100, 0, 100, 100), middle)).toBeCloseTo(50);
  expect(distanceTo(shape("pen", 0, 0, 0, 0), { x: 3, y: 4 })).toBeCloseTo(5);
});

it("a path begins and ends where the shape does", () => {
  expect(pathOf(shape("pen", 0, 0, 10, 0))).toBe("M0 0L10 0");
  expect(pathOf(shape("pen", 0, 0, 10, 0, 10, 10))).toBe("M0 0Q10 0 10 10");
  expect(pathOf(shape("pen", 0, 0, 10, 0, 10, 10, 20, 10))).toBe("M0 0Q10 0 10 5Q10 10 20 10");
  expect(pathOf(shape("box", 10, 20, 30, 40))).toBe("M30 40L10 40L10 20L30 20L30 40");
  expect(pathOf(shape("arrow", 0, 0, 100, 0))).toMatch(/^M0 0L100 0M86 -7\.7L100 0L86 7\.7$/);
});
