/** Coordinates in presence: which are found, and the part of the plane that a map shows. */
import { describe, expect, it } from "vitest";
import { boundsOf, pointIn } from "../../src/dashboard/page/room/coordinates.ts";

describe("the point in a presence state", () => {
  it.each([
    [
      { cursor: { x: 1, y: 2 }, color: "red" },
      { x: 1, y: 2 },
    ],
    [
      { x: 3, y: 4 },
      { x: 3, y: 4 },
    ],
    [
      { cursor: null, mouse: { x: -1, y: 0.5, z: 1 } },
      { x: -1, y: 0.5 },
    ],
    [{ cursor: { x: "1", y: 2 } }, null],
    [{ cursor: { x: Number.NaN, y: 2 } }, null],
    [{ path: [1, 2] }, null],
    [undefined, null],
  ])("of %j is %j", (state, point) => {
    if (point === null) expect(pointIn(state)).toBeNull();
    else expect(pointIn(state)).toMatchObject(point);
  });
});

describe("a map", () => {
  it.each([
    [[{ x: 120, y: 40 }], { min: { x: 0, y: 0 }, max: { x: 200, y: 50 } }],
    [[{ x: 0.3, y: 0.9 }], { min: { x: 0, y: 0 }, max: { x: 0.5, y: 1 } }],
    [
      [
        { x: -30, y: 0 },
        { x: 700, y: 0 },
      ],
      { min: { x: -50, y: 0 }, max: { x: 1000, y: 1 } },
    ],
    [[{ x: 0, y: 0 }], { min: { x: 0, y: 0 }, max: { x: 1, y: 1 } }],
  ])("of %j shows %j", (points, bounds) => {
    const { min, max } = boundsOf(points);
    for (const corner of ["x", "y"] as const) {
      expect(min[corner]).toBeCloseTo(bounds.min[corner], 9);
      expect(max[corner]).toBeCloseTo(bounds.max[corner], 9);
    }
  });
});
