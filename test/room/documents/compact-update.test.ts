/** Updates that are made smaller: whatever is merged, compacted and dropped, Yjs makes the same document of it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { compactUpdate } from "../../../src/room/documents/updates/compact-update.ts";
import { KnownContent } from "../../../src/room/documents/updates/known-content.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
import { contentOf, edit, updatesOf } from "./yjs-edits.ts";

/** The updates that edits of one document make. */
function updatesBy(edits: (doc: Y.Doc) => Iterable<unknown>): Uint8Array[] {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (const _ of edits(doc));
  return updates;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

describe("a compacted update", () => {
  it("is to every client what the updates are, however they are grouped and whatever it has already (D26)", () => {
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 60 }), sizes, fc.boolean(), (edits, sizes, drops) => {
        const updates = updatesOf(edits).map(({ update }) => update);
        const compacted: Uint8Array[] = [];
        for (let at = 0; at < updates.length; ) {
          const size = sizes.next().value ?? 1;
          compacted.push(compactUpdate(Y.mergeUpdates(updates.slice(at, at + size)), drops));
          at += size;
        }
        expect(contentOf(compacted)).toEqual(contentOf(updates));
        expect(contentOf(compacted.reverse())).toEqual(contentOf(updates));
        for (const have of [updates.slice(0, updates.length >> 1), updates.filter((_, index) => index % 3)])
          expect(contentOf([...have, ...compacted])).toEqual(contentOf(updates));
        const twice = compactUpdate(
          Y.mergeUpdates([Y.encodeStateAsUpdate(new Y.Doc()), ...compacted]),
          drops,
        );
        expect(contentOf([twice])).toEqual(contentOf(updates));
      }),
      { numRuns: 150 },
    );
  });

  it("takes what clients write about the original, and of what they write nothing is lost (D26)", () => {
    fc.assert(
      fc.property(
        fc.array(edit, { maxLength: 40 }),
        fc.nat({ max: 40 }),
        fc.boolean(),
        (edits, at, drops) => {
          const updates = updatesOf(edits).map(({ update }) => update);
          const [before, after] = [updates.slice(0, at), updates.slice(at)];
          const small = compactUpdate(Y.mergeUpdates([Y.encodeStateAsUpdate(new Y.Doc()), ...before]), drops);
          expect(contentOf([small, ...after])).toEqual(contentOf(updates));
          expect(contentOf([...after, small])).toEqual(contentOf(updates));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("has every operation and every deletion (D26)", () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 60 }), fc.boolean(), (edits, drops) => {
        const merged = Y.mergeUpdates([
          Y.encodeStateAsUpdate(new Y.Doc()),
          ...updatesOf(edits).map(({ update }) => update),
        ]);
        const known = new KnownContent();
        known.add(scanUpdate(compactUpdate(merged, drops)));
        expect(known.covers(scanUpdate(merged))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("has what was typed letter by letter as one, if it stands together (D26)", () => {
    const text = "A line that someone typed, ✨ and all.";
    const updates = updatesBy(function* (doc) {
      for (let at = 0; at < text.length; at += 1) yield doc.getText("text").insert(at, text.charAt(at));
    });
    const compacted = compactUpdate(Y.mergeUpdates(updates), false);
    expect(compacted.length).toBeLessThan(bytesOf(text) + 30);
    expect(contentOf([compacted]).text).toEqual([{ insert: text }]);
  });

  it("keeps apart what was inserted before different neighbours (D26)", () => {
    const [first, second] = [new Y.Doc(), new Y.Doc()];
    [first.clientID, second.clientID] = [5, 1];
    first.getText("text").insert(0, "a");
    Y.applyUpdate(second, Y.encodeStateAsUpdate(first));
    second.getText("text").insert(1, "c");
    const other = Y.encodeStateAsUpdate(second, Y.encodeStateVector(first));
    Y.applyUpdate(first, other);
    first.getText("text").insert(1, "b");
    const own = Y.diffUpdate(Y.encodeStateAsUpdate(first), Y.encodeStateVectorFromUpdate(other));
    const merged = Y.mergeUpdates([own, other]);
    expect(contentOf([compactUpdate(merged, true)]).text).toEqual([{ insert: "abc" }]);
  });

  it("keeps nothing of a value that was replaced a thousand times but that it was there (D26)", () => {
    const updates = updatesBy(function* (doc) {
      for (let value = 0; value < 1_000; value += 1) yield doc.getMap("map").set("x", `value ${value}`);
    });
    const merged = Y.mergeUpdates(updates);
    const compacted = compactUpdate(merged, true);
    expect(merged.length).toBeGreaterThan(15_000);
    expect(compacted.length).toBeLessThan(60);
    expect(contentOf([compacted]).map).toEqual({ x: "value 999" });
    expect(contentOf([compactUpdate(merged, false)]).map).toEqual({ x: "value 999" });
  });

  it("keeps what is shown of a text of which the middle is deleted, and drops the middle (D26)", () => {
    const secret = "what no one is to read any more";
    const updates = updatesBy(function* (doc) {
      yield doc.getText("text").insert(0, `It begins, ${secret}, and ends.`);
      yield doc.getText("text").delete(11, secret.length);
    });
    const compacted = compactUpdate(Y.mergeUpdates(updates), true);
    expect(new TextDecoder().decode(compacted)).not.toContain("no one");
    expect(contentOf([compacted]).text).toEqual([{ insert: "It begins, , and ends." }]);
  });

  it("makes what Yjs makes of a character that is deleted by half (D26)", () => {
    const updates = updatesBy(function* (doc) {
      yield doc.getText("text").insert(0, "a✨b😀c");
      yield doc.getText("text").delete(4, 2);
    });
    const compacted = compactUpdate(Y.mergeUpdates(updates), true);
    expect(contentOf([compacted])).toEqual(contentOf(updates));
  });

  it("drops what was in a container that is deleted, and what arrives in it later is as deleted (D26)", () => {
    const [writer, late] = [new Y.Doc(), new Y.Doc()];
    const updates: Uint8Array[] = [];
    for (const doc of [writer, late]) doc.on("update", (update: Uint8Array) => updates.push(update));
    const inner = new Y.Text("inner text");
    writer.getArray("list").push([inner, "rest"]);
    Y.applyUpdate(late, Y.encodeStateAsUpdate(writer), "pull");
    writer.getArray("list").delete(0);
    const compacted = compactUpdate(Y.mergeUpdates(updates), true);
    updates.length = 0;
    const written = late.getArray("list").get(0);
    if (!(written instanceof Y.Text)) throw new Error("The list begins with a text");
    written.insert(5, " late");
    expect(new TextDecoder().decode(compacted)).not.toContain("inner");
    expect(contentOf([compacted, ...updates]).list).toEqual(["rest"]);
    expect(contentOf([...updates, compacted]).list).toEqual(["rest"]);
  });

  it("keeps nothing of deleted containers in each other, though no byte is saved: Yjs deletes them by recursion (D26)", () => {
    const updates = updatesBy(function* (doc) {
      let outer = doc.getMap("map");
      for (let level = 0; level < 20; level += 1) {
        const inner = new Y.Map();
        yield outer.set("in", inner);
        outer = inner;
      }
      yield doc.getMap("map").delete("in");
    });
    const compacted = compactUpdate(Y.mergeUpdates(updates), true);
    const { structs } = Y.decodeUpdate(compacted);
    expect(structs).toHaveLength(20);
    for (const struct of structs) expect(struct).toMatchObject({ content: expect.any(Y.ContentDeleted) });
    expect(contentOf([compacted])).toEqual(contentOf(updates));
  });
});
