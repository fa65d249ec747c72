/** Reading of Yjs updates, and refusal of invalid ones. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import fc from "fast-check";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { MalformedUpdate } from "../../../src/room/documents/updates/content-reader.ts";
import { type ClockRange, IdSet } from "../../../src/room/documents/updates/ranges.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
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
  ["a gap with the bits of an item", [1, 1, 1, 0, 42, 5, 0]],
  ["text that is no UTF-8", [1, 1, 1, 0, 4, 1, 1, 116, 1, 255, 0]],
  ["an operation after itself", [1, 1, 1, 0, 132, 1, 0, 1, 97, 0]],
  ["more operations than fit", [1, 255, 255, 255, 127, 1, 0, 0, 1]],
])("refuses %s (D8)", (_, bytes) => {
  expect(() => scanUpdate(new Uint8Array(bytes))).toThrow(MalformedUpdate);
});

/** An update that inserts one operation into a shared type. */
const inserting = (content: number, write: (encoder: encoding.Encoder) => void): Uint8Array =>
  encoding.encode((encoder) => {
    for (const number of [1, 1, 7, 0, content, 1]) encoding.writeVarUint(encoder, number);
    encoding.writeVarString(encoder, "type");
    write(encoder);
    encoding.writeVarUint(encoder, 0);
  });

const arrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const NESTED: readonly (readonly [string, (json: string) => Uint8Array])[] = [
  ["an embedded value", (json) => inserting(5, (encoder) => encoding.writeVarString(encoder, json))],
  [
    "a format",
    (json) =>
      inserting(6, (encoder) => {
        encoding.writeVarString(encoder, "bold");
        encoding.writeVarString(encoder, json);
      }),
  ],
  [
    "JSON",
    (json) =>
      inserting(2, (encoder) => {
        encoding.writeVarUint(encoder, 1);
        encoding.writeVarString(encoder, json);
      }),
  ],
  [
    "any value",
    (json) =>
      inserting(8, (encoder) => {
        encoding.writeVarUint(encoder, 1);
        encoding.writeAny(encoder, JSON.parse(json));
      }),
  ],
];

it.each(NESTED)("refuses %s that nests deeper than Yjs could merge it (D8)", (_, insert) => {
  const other = Y.encodeStateAsUpdate(new Y.Doc());
  for (const nest of [arrays, objects]) {
    const deep = insert(nest(DOCUMENT_LIMITS.valueDepth));
    expect(scanUpdate(deep).inserted).toEqual([{ client: 7, start: 0, end: 1 }]);
    expect(scanUpdate(Y.mergeUpdates([deep, other])).inserted).toHaveLength(1);
    expect(() => scanUpdate(insert(nest(DOCUMENT_LIMITS.valueDepth + 1)))).toThrow(
      "nests more than 1000 levels deep",
    );
  }
});

it("accepts a subdocument only if Yjs can read it and write it again (D8)", () => {
  const options = fc.oneof(
    fc.constantFrom(null, undefined, {}, { guid: null }, { guid: 5 }, { guid: "other" }, { autoLoad: true }),
    fc.record({ guid: fc.jsonValue(), meta: fc.jsonValue(), gc: fc.boolean() }, { requiredKeys: [] }),
    fc.jsonValue(),
    fc.uint8Array(),
  );
  let accepted = 0;
  fc.assert(
    fc.property(fc.string(), options, (guid, value) => {
      const update = inserting(9, (encoder) => {
        encoding.writeVarString(encoder, guid);
        encoding.writeAny(encoder, value as never);
      });
      try {
        scanUpdate(update);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedUpdate);
        return;
      }
      const doc = new Y.Doc();
      Y.applyUpdate(doc, update);
      expect(Y.encodeStateVector(doc)).toHaveLength(3);
      scanUpdate(Y.encodeStateAsUpdate(doc));
      accepted += 1;
    }),
  );
  expect(accepted).toBeGreaterThan(0);
  const subdocument = new Y.Doc();
  subdocument.getMap("root").set("child", new Y.Doc({ meta: { title: "Plan" }, autoLoad: true }));
  expect(scanUpdate(Y.encodeStateAsUpdate(subdocument)).inserted).toHaveLength(1);
});

it("reads all values that Yjs can hold, to their ends (D8)", () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.double(),
    fc.float(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.uint8Array(),
    fc.constant(undefined),
    fc.maxSafeInteger(),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      const update = inserting(8, (encoder) => {
        encoding.writeVarUint(encoder, values.length);
        for (const each of values) encoding.writeAny(encoder, each as never);
      });
      expect(scanUpdate(update).inserted).toEqual([{ client: 7, start: 0, end: values.length }]);
      const isCut = (length: number) =>
        expect(() => scanUpdate(update.slice(0, length))).toThrow(MalformedUpdate);
      for (let length = 0; length < update.length; length += 1) isCut(length);
    }),
  );
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
