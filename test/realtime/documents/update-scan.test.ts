/** Reading what Yjs updates have, and refusing what is none. */

import fc from "fast-check";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { type ClockRange, IdSet } from "../../../src/realtime/documents/id-set.ts";
import { MalformedUpdate } from "../../../src/realtime/documents/update-content.ts";
import { scanUpdate } from "../../../src/realtime/documents/update-scan.ts";
import { edit, updatesOf } from "./yjs-edits.ts";

const encode = (set: IdSet) => encoding.encode((encoder) => set.write(encoder));
const sorted = (vector: Uint8Array) => [...Y.decodeStateVector(vector)].sort();

it("finds the operations of an update that Yjs finds, in whatever order updates arrive (D3)", () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (edits, order) => {
      const updates = updatesOf(edits)
        .map(({ update }) => ({ update, key: order.next().value ?? 0 }))
        .sort((one, other) => one.key - other.key);
      const [known, doc] = [new IdSet(), new Y.Doc()];
      for (const { update } of updates) {
        known.addAll(scanUpdate(update).inserted);
        Y.applyUpdate(doc, update);
      }
      const merged = scanUpdate(
        Y.mergeUpdates([Y.encodeStateAsUpdate(new Y.Doc()), ...updates.map((u) => u.update)]),
      );
      expect(sorted(known.encodeStateVector())).toEqual(sorted(Y.encodeStateVector(doc)));
      expect(merged.inserted.every((range) => known.covers(range))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it("refuses what Yjs could not read: damaged updates are refused or readable, never anything else (D8)", () => {
  const damage = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), cut: fc.boolean() });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 12 }), damage, (edits, { at, byte, cut }) => {
      for (const { update } of updatesOf(edits)) {
        const damaged = cut ? update.slice(0, at % update.length) : update.slice();
        if (!cut) damaged[at % update.length] = byte;
        try {
          scanUpdate(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedUpdate);
          continue;
        }
        Y.decodeUpdate(damaged);
        Y.mergeUpdates([update, damaged]);
      }
    }),
    { numRuns: 200 },
  );
});

it.each([
  ["nothing", []],
  ["an update that is cut off", [1, 1, 5]],
  ["bytes after the end", [0, 0, 0]],
  ["an operation of no length", [1, 1, 1, 0, 0, 0, 0]],
  ["a content that does not exist", [1, 1, 1, 0, 31, 1, 1, 116, 0]],
  ["text that is no UTF-8", [1, 1, 1, 0, 4, 1, 1, 116, 1, 255, 0]],
  ["an operation after itself", [1, 1, 1, 0, 132, 1, 0, 1, 97, 0]],
  ["more operations than fit", [1, 255, 255, 255, 127, 1, 0, 0, 1]],
])("refuses %s (D8)", (_, bytes) => {
  expect(() => scanUpdate(new Uint8Array(bytes))).toThrow(MalformedUpdate);
});

it("keeps sets of operations exactly, also through storage", () => {
  const range = fc
    .record({
      client: fc.nat({ max: 2 }),
      start: fc.nat({ max: 60 }),
      length: fc.integer({ min: 1, max: 12 }),
    })
    .map(({ client, start, length }): ClockRange => ({ client, start, end: start + length }));
  fc.assert(
    fc.property(fc.array(range, { maxLength: 30 }), range, (ranges, asked) => {
      const set = new IdSet();
      const clocks = new Set<string>();
      for (const added of ranges) {
        set.add(added);
        for (let clock = added.start; clock < added.end; clock += 1) clocks.add(`${added.client} ${clock}`);
      }
      const isKnown = (clock: number) => clocks.has(`${asked.client} ${clock}`);
      const all = Array.from({ length: asked.end - asked.start }, (_, index) => asked.start + index);
      expect(set.covers(asked)).toBe(all.every(isKnown));
      const stored = IdSet.read(decoding.createDecoder(encode(set)));
      expect([...stored.ranges()]).toEqual([...set.ranges()]);
      expect(stored.size).toBe([...set.ranges()].length);
      expect(stored.size).toBe(set.size);
    }),
  );
});
