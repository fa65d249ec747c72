/** What the demo's page reads of a board: any client of the room can send anything. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { versionsOf } from "../../../examples/demo/panels/versions.ts";
import { boxOf } from "../../../examples/demo/room/items.ts";
import { PAPERS, paperOf, readNote, readParticipant, readShape } from "../../../examples/demo/room/model.ts";
import { pathOf } from "../../../examples/demo/room/shape.ts";
import { MAX_LENGTH } from "../../../examples/demo/room/text.ts";
import { segmentOf } from "../../../packages/sdk/core/address.ts";

/** Values that JSON has, and that no number or text can be made of. */
const NOTHING = { toString: 1, valueOf: 1 };
const Field = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(NOTHING, [NOTHING], [1, NOTHING, 2, NOTHING], -0, 1e300),
  fc.constantFrom("/", ".", "a//b", "a/../b", "http://e.example/x.png", `${"a".repeat(MAX_LENGTH - 1)}🎈`),
);
const NOTE = ["x", "y", "text", "picture", "front", "width", "paper"] as const;
const SHAPE = ["kind", "tint", "points", "x", "y"] as const;
const PRESENCE = ["cursor", "color", "selection", "drag", "width", "draft", "typing"] as const;
const valueWith = <Name extends string>(names: readonly Name[]) =>
  fc.oneof(
    fc.jsonValue(),
    fc.record(Object.fromEntries(names.map((name) => [name, Field])), { requiredKeys: [] }),
  );
const Drawn = fc.oneof(
  valueWith(SHAPE),
  fc.record({
    kind: fc.constantFrom("pen", "box"),
    points: fc.array(Field, { minLength: 4 }),
    x: Field,
  }),
);
const Shown = fc.oneof(valueWith(PRESENCE), fc.record({ draft: Drawn, drag: valueWith(["x", "y"]) }));
const ADA = { id: "ada", name: "Ada" };

it("no value breaks a page, and pictures have addresses", () => {
  fc.assert(
    fc.property(valueWith(NOTE), Drawn, Shown, (noteValue, shapeValue, presence) => {
      const note = readNote(noteValue);
      const { x, y, width, height } = boxOf(note);
      expect([x, y, width, height, note.front].every(Number.isFinite)).toBe(true);
      for (const key of ["x", "-3", "1e9", "7-a"]) expect(PAPERS[paperOf(key, note)]).toBeDefined();
      expect(note.text.isWellFormed() || !String(Object(noteValue).text).isWellFormed()).toBe(true);
      if (note.picture !== "") note.picture.split("/").forEach(segmentOf);
      const shape = readShape(shapeValue);
      if (shape !== null) expect(pathOf(shape)).not.toContain("NaN");
      readParticipant({ user: ADA, presence } as never);
      const change = { seq: 1, at: "2026-01-31T09:00:00Z", by: "ada" };
      versionsOf({
        start: [],
        changes: [
          { ...change, store: "notes", key: "1", value: noteValue },
          { ...change, store: "shapes", key: "1", value: shapeValue },
        ],
      });
    }),
    { numRuns: 500 },
  );
});

it("a note keeps the key of an uploaded picture", () => {
  const picture = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11/Zk3vX0qTn8mJt5yBwL2cRg/uploads/plan 🎈.png";
  expect(readNote({ x: 0, y: 0, picture }).picture).toBe(picture);
});
