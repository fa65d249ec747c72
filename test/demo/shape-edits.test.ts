/** Shapes that are changed by keys and pointers. */
import { expect, it } from "vitest";
import {
  boxOf,
  editOf,
  movedBy,
  type PressedKey,
  placeAfter,
  resizedBy,
  sayEdit,
} from "../../src/demo/page/canvas/shape-edits.ts";
import type { Kind } from "../../src/demo/page/room/shape.ts";

const shape = (kind: Kind, ...points: number[]) => ({ kind, tint: 1, points });
const press = (key: string, modifiers: Partial<PressedKey> = {}) =>
  editOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...modifiers });

it("arrow keys move a shape, with Shift further, and resize it with another modifier", () => {
  expect(press("ArrowLeft")).toEqual({ type: "move", by: { x: -10, y: 0 } });
  expect(press("ArrowDown", { shiftKey: true })).toEqual({ type: "move", by: { x: 0, y: 50 } });
  for (const modifier of ["ctrlKey", "metaKey", "altKey"])
    expect(press("ArrowUp", { [modifier]: true })).toEqual({ type: "resize", by: { x: 0, y: -10 } });
  expect([press("Delete"), press("Backspace")]).toEqual([{ type: "delete" }, { type: "delete" }]);
  expect([press("PageDown"), press("a"), press("Delete", { ctrlKey: true })]).toEqual([
    { type: "go", to: "next" },
    null,
    null,
  ]);
});

it("a shape keeps its corner while it is resized, and never vanishes", () => {
  const drawn = shape("pen", 10, 10, 60, 110, 110, 60);
  expect(movedBy(drawn, { x: -10, y: 5 }).points).toEqual([0, 15, 50, 115, 100, 65]);
  expect(boxOf(resizedBy(drawn, { x: 50, y: -50 }))).toEqual({ x: 10, y: 10, width: 150, height: 50 });
  expect(boxOf(resizedBy(drawn, { x: -500, y: -500 }))).toEqual({ x: 10, y: 10, width: 8, height: 8 });
  // An arrow that points up and to the left still does.
  expect(resizedBy(shape("arrow", 100, 100, 0, 0), { x: 100, y: 0 }).points).toEqual([200, 100, 0, 0]);
  expect(resizedBy(shape("arrow", 0, 0, 100, 0), { x: 0, y: 20 }).points).toEqual([0, 0, 100, 20]);
  expect(resizedBy(shape("box", 0, 0, 4, 4), { x: -10, y: 0 }).points).toEqual([0, 0, 4, 4]);
});

it("says what has happened", () => {
  const box = shape("box", 30, 40, 10, 20);
  expect(sayEdit({ type: "move", by: { x: 1, y: 0 } }, box, 2)).toBe("Blue box moved to 10, 20");
  expect(sayEdit({ type: "resize", by: { x: 1, y: 0 } }, box, 2)).toBe("Blue box is 20 wide and 20 high");
  expect(sayEdit({ type: "delete" }, box, 1)).toBe("Blue box deleted, 1 shape left");
});

it("goes through the shapes, and not beyond them", () => {
  expect([placeAfter("next", 2, 3), placeAfter("previous", 0, 3), placeAfter("last", 0, 3)]).toEqual([
    2, 0, 2,
  ]);
});
