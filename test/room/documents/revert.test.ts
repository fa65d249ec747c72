/** Restoring earlier states of documents by edits, against plain Yjs documents. */
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { revertingUpdate } from "../../../src/room/documents/history/rollback.ts";
import { contentOf, edit, updatesOf } from "./yjs-edits.ts";

/** Visible content of a document, without its history. */
function shownBy(updates: readonly Uint8Array[]) {
  const { state: _, ...shown } = contentOf(updates);
  return shown;
}

const merged = (updates: readonly Uint8Array[]) => Y.mergeUpdates([new Uint8Array([0, 0]), ...updates]);
const edits = fc.array(edit, { minLength: 1, maxLength: 30 });

it("brings a document back to what it showed, and forth again (D21)", () => {
  fc.assert(
    fc.property(edits, fc.nat({ max: 30 }), (edits, end) => {
      const updates = updatesOf(edits).map(({ update }) => update);
      const before = updates.slice(0, end);
      const back = revertingUpdate(merged(before), merged(updates));
      const restored = back === null ? updates : [...updates, back];
      expect(shownBy(restored)).toEqual(shownBy(before));
      const forth = revertingUpdate(merged(updates), merged(restored));
      expect(shownBy(forth === null ? restored : [...restored, forth])).toEqual(shownBy(updates));
    }),
    { numRuns: 80 },
  );
});

it("leaves what is written meanwhile, wherever it arrives first (D21)", () => {
  fc.assert(
    fc.property(edits, fc.nat({ max: 30 }), fc.nat({ max: 30 }), (edits, end, at) => {
      const updates = updatesOf(edits).map(({ update }) => update);
      const back = revertingUpdate(merged(updates.slice(0, end)), merged(updates));
      if (back === null) return;
      const meanwhile = new Y.Doc();
      Y.applyUpdate(meanwhile, merged(updates));
      const vector = Y.encodeStateVector(meanwhile);
      const text = meanwhile.getText("text");
      text.insert(Math.min(at, text.length), "[meanwhile]");
      meanwhile.getMap("map").set("meanwhile", 1);
      const written = Y.encodeStateAsUpdate(meanwhile, vector);
      const [one, other] = [
        [...updates, back, written],
        [...updates, written, back],
      ].map(contentOf);
      expect(one).toEqual(other);
      expect(JSON.stringify(one?.text).split("[meanwhile]")).toHaveLength(2);
      expect(one?.map).toMatchObject({ meanwhile: 1 });
    }),
    { numRuns: 60 },
  );
});

it("can be taken back by the undo of an editor, whose own undo goes on working (D21)", () => {
  const [doc, provider] = [new Y.Doc(), {}];
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  const text = doc.getText("text");
  const own = new Y.UndoManager(text, { captureTimeout: 0 });
  const all = new Y.UndoManager(text, { captureTimeout: 0, trackedOrigins: new Set([provider]) });
  text.insert(0, "Hello");
  const before = merged(updates);
  text.insert(5, " world");
  text.delete(0, 1);
  const back = revertingUpdate(before, merged(updates));
  if (back === null) throw new Error("There was nothing to restore");
  Y.applyUpdate(doc, back, provider);
  expect(text.toString()).toBe("Hello");
  all.undo();
  expect(text.toString()).toBe("ello world");
  all.redo();
  expect(text.toString()).toBe("Hello");
  text.insert(5, "!");
  own.undo();
  expect(text.toString()).toBe("Hello");
});

it("is nothing for a document that shows the same, and refused for a large one (D21)", () => {
  const doc = new Y.Doc();
  doc.getText("text").insert(0, "Hello");
  const small = Y.encodeStateAsUpdate(doc);
  expect(revertingUpdate(small, small)).toBeNull();
  doc.getText("text").insert(0, "x".repeat(2_100_000));
  expect(() => revertingUpdate(small, Y.encodeStateAsUpdate(doc))).toThrow(
    "shown, edited, compared, restored nor rolled back",
  );
});
