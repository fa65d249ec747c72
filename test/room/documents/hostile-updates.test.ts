/** Updates that no editor writes: a document that the room accepts stays readable in every way, for everyone. */
import { AppError } from "@atrium/contract/errors.ts";
import type { Edit } from "@atrium/contract/rest/document-edits.ts";
import { SHARED_TYPES } from "@atrium/contract/shared-types.ts";
import fc from "fast-check";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { compareType } from "../../../src/room/documents/compare/compare.ts";
import { renderContent } from "../../../src/room/documents/content/render-content.ts";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import { applyEdits } from "../../../src/room/documents/edits/apply-edits.ts";
import { readBlocks } from "../../../src/room/documents/edits/blocks.ts";
import { changedBlocks } from "../../../src/room/documents/edits/changed-blocks.ts";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
import { revertingUpdate, rollbackUpdate } from "../../../src/room/documents/history/rollback.ts";
import {
  acceptingUpdate,
  partsOf,
  type SuggestionVersions,
} from "../../../src/room/documents/suggestions/suggestions.ts";
import { MalformedUpdate } from "../../../src/room/documents/updates/content-reader.ts";
import { mergeMany } from "../../../src/room/documents/updates/known-content.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Author } from "../../../src/room/types/documents.ts";
import { test, withStorage } from "../support/with-storage.ts";
import { PROGRAM } from "./edited-documents.ts";
import { FREE } from "./opened-documents.ts";
import { missing, NOTHING_KNOWN } from "./yjs-edits.ts";

type Write = (encoder: encoding.Encoder) => void;

interface Content {
  readonly kind: number;
  /** Length in clocks. */
  readonly length: number;
  readonly write: Write;
}

const number =
  (value: number): Write =>
  (encoder) =>
    encoding.writeVarUint(encoder, value);
const text =
  (value: string): Write =>
  (encoder) =>
    encoding.writeVarString(encoder, value);
const any =
  (value: unknown): Write =>
  (encoder) =>
    encoding.writeAny(encoder, value as Parameters<typeof encoding.writeAny>[1]);
const inTurn =
  (...writes: Write[]): Write =>
  (encoder) => {
    for (const write of writes) write(encoder);
  };
const counted = (writes: readonly Write[]): Write => inTurn(number(writes.length), ...writes);

const word = fc.constantFrom("", "a", "toString", "valueOf", "__proto__", "guid", "toJSON", "length");
const object = fc.oneof(
  fc.constantFrom<unknown>({ toString: 1, valueOf: 1 }, [{ toString: null }], {}, { guid: 1 }),
  fc.dictionary(word, fc.constantFrom<unknown>(null, 1, "x", {}, [], undefined)),
);
const value = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, 1.5, "x", 2n ** 62n, new Uint8Array([1])),
  object,
);
const json = fc.oneof(
  fc.constantFrom("null", "undefined", '"x"', "{", '{"toString":1,"valueOf":1}', '{"__proto__":null}'),
  fc.json(),
);

const one = (kind: number, write: Write): Content => ({ kind, length: 1, write });
const lengthOnly = (kind: number) => (length: number) => ({ kind, length, write: number(length) });

const content: fc.Arbitrary<Content> = fc.oneof(
  fc.nat({ max: 9 }).map(lengthOnly(0)),
  fc.constantFrom(1, 2, 3, 2 ** 40).map(lengthOnly(1)),
  fc
    .array(json, { maxLength: 3 })
    .map((values) => ({ kind: 2, length: values.length, write: counted(values.map(text)) })),
  fc
    .uint8Array({ maxLength: 3 })
    .map((bytes) => one(3, (encoder) => encoding.writeVarUint8Array(encoder, bytes))),
  fc
    .constantFrom("a", "bc", "a✨b😀c", "", "\0")
    .map((written) => ({ kind: 4, length: written.length, write: text(written) })),
  json.map((written) => one(5, text(written))),
  fc.tuple(word, json).map(([key, written]) => one(6, inTurn(text(key), text(written)))),
  fc
    .tuple(fc.nat({ max: 7 }), word)
    .map(([type, name]) =>
      one(7, type === 3 || type === 5 ? inTurn(number(type), text(name)) : number(type)),
    ),
  fc
    .array(value, { maxLength: 3 })
    .map((values) => ({ kind: 8, length: values.length, write: counted(values.map(any)) })),
  fc.tuple(word, value).map(([guid, options]) => one(9, inTurn(text(guid), any(options)))),
  fc.integer({ min: 1, max: 4 }).map(lengthOnly(10)),
);

interface Id {
  readonly client: number;
  readonly clock: number;
}

const client = fc.integer({ min: 1, max: 4 });
const id: fc.Arbitrary<Id> = fc.record({ client, clock: fc.nat({ max: 6 }) });
const neighbor = fc.option(id, { freq: 1 });
const HOSTILE_ROOTS = ["text", "map", "list", "xml"] as const;

const struct = fc.record({
  content,
  origin: neighbor,
  rightOrigin: neighbor,
  container: fc.oneof(fc.constantFrom(...HOSTILE_ROOTS), id),
  key: fc.option(word, { freq: 1 }),
});

type Struct = typeof struct extends fc.Arbitrary<infer Value> ? Value : never;

function writeStruct({ content, origin, rightOrigin, container, key }: Struct): Write {
  if (content.kind === 0 || content.kind === 10) return inTurn(number(content.kind), content.write);
  const info =
    content.kind | (origin === null ? 0 : 128) | (rightOrigin === null ? 0 : 64) | (key === null ? 0 : 32);
  const writeId = (at: Id) => inTurn(number(at.client), number(at.clock));
  const place =
    typeof container === "string"
      ? inTurn(number(1), text(container))
      : inTurn(number(0), writeId(container));
  const isAlone = origin === null && rightOrigin === null;
  return inTurn(
    (encoder) => encoding.writeUint8(encoder, info),
    ...[origin, rightOrigin].flatMap((at) => (at === null ? [] : [writeId(at)])),
    ...(isAlone ? [place, ...(key === null ? [] : [text(key)])] : []),
    content.write,
  );
}

const block = fc
  .record({ client, clock: fc.nat({ max: 6 }), structs: fc.array(struct, { maxLength: 5 }) })
  .map((block) => ({
    ...block,
    write: inTurn(
      number(block.structs.length),
      number(block.client),
      number(block.clock),
      ...block.structs.map(writeStruct),
    ),
  }));

const deletion = fc
  .record({ client, clock: fc.nat({ max: 8 }), length: fc.integer({ min: 1, max: 5 }) })
  .map(({ client, clock, length }) => inTurn(...[client, 1, clock, length].map(number)));

/** Most have their clients in Yjs' order. */
const hostileUpdate: fc.Arbitrary<Uint8Array> = fc
  .record({
    blocks: fc.oneof(
      { weight: 5, arbitrary: fc.uniqueArray(block, { maxLength: 3, selector: ({ client }) => client }) },
      { weight: 1, arbitrary: fc.array(block, { maxLength: 3 }) },
    ),
    isSorted: fc.oneof(fc.constant(true), fc.constant(true), fc.boolean()),
    deletions: fc.array(deletion, { maxLength: 2 }),
  })
  .map(({ blocks, isSorted, deletions }) => {
    const ordered = isSorted ? blocks.toSorted((one, other) => other.client - one.client) : blocks;
    return encoding.encode(inTurn(counted(ordered.map(({ write }) => write)), counted(deletions)));
  });

const ADA: Author = { type: "user", id: "ada" };

/** A document with the accepted ones of these updates, and the updates that other clients received for each. */
function write(storage: RoomStorage, updates: readonly Uint8Array[]) {
  storage.clear();
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const received = updates.flatMap((update) => {
    try {
      return documents.append("notes", update, ADA) ?? [];
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedUpdate);
      return [];
    }
  });
  return { documents, received };
}

/**
 * A client with these updates. Its own state is applied to it once more, as Yjs notes only the first operation
 * that is missing of each client: others that waited for the same client are tried with the next update.
 */
function clientWith(updates: Iterable<Uint8Array>): Y.Doc {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(doc));
  return doc;
}

const stateOf = (updates: Iterable<Uint8Array>) => {
  const doc = clientWith(updates);
  scanUpdate(Y.encodeStateAsUpdate(doc));
  return [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([one], [other]) => one - other);
};

/** All that is shown of a document, whatever its shared types are read as. */
const shown = (update: Uint8Array) =>
  HOSTILE_ROOTS.flatMap((root) =>
    SHARED_TYPES.map((type) =>
      JSON.stringify(renderContent(update, { type, root, maxLength: null }).content),
    ),
  );

/** Readers, writers and restores of history must cope with the document. */
function expectReadable(documents: RoomDocuments, received: readonly Uint8Array[]): void {
  const [first] = received;
  if (first === undefined) return;
  const whole = mergeMany(received);
  expect(stateOf(received)).toEqual(stateOf([whole]));
  expect(stateOf(missing(documents, "notes", NOTHING_KNOWN))).toEqual(stateOf(received));
  const [content, half] = [shown(whole), Y.encodeStateVector(clientWith([first]))];
  documents.fold("notes");
  expect(stateOf(missing(documents, "notes", NOTHING_KNOWN))).toEqual(stateOf(received));
  expect(stateOf([first, ...missing(documents, "notes", half)])).toEqual(stateOf(received));
  expect(shown(mergeMany(missing(documents, "notes", NOTHING_KNOWN)))).toEqual(content);
  const since = received.map((data, index) => ({ seq: index + 1, authors: [ADA], data }));
  for (const root of HOSTILE_ROOTS)
    for (const type of SHARED_TYPES) JSON.stringify(compareType([first], since.slice(1), type, root));
  const back = [
    revertingUpdate(first, whole),
    rollbackUpdate([], since, { author: ADA, upTo: received.length }),
  ];
  for (const update of back) if (update !== null) stateOf([whole, update]);
  expectEditable(whole, received);
  expectReviewable({ base: first, fork: whole, current: received.at(-1) ?? first, secret: "" });
  expectReviewable({ base: received.at(-1) ?? first, fork: whole, current: whole, secret: "" });
}

/** The result; null when it is refused on purpose. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return null;
  }
}

/** Each part of a fork is accepted, alone and with the others, or refused on purpose. */
function expectReviewable(versions: SuggestionVersions): void {
  const parts = partsOf(versions);
  JSON.stringify(parts);
  for (const accepted of [...parts.map(({ id }) => new Set([id])), "all"] as const)
    attempt(() => {
      const accepting = acceptingUpdate(versions, accepted);
      if (accepting === null) return;
      scanUpdate(accepting.update);
      stateOf([mergeMany([versions.current, accepting.update])]);
    });
}

/** Edits at all blocks of a document are made, or refused on purpose, and others can read the result. */
function expectEditable(whole: Uint8Array, received: readonly Uint8Array[]): void {
  const since = received.map((data, index) => ({ seq: index + 1, authors: [ADA], data }));
  for (const root of HOSTILE_ROOTS)
    for (const type of ["text", "xml"] as const) {
      const read = attempt(() => readBlocks(whole, { root, type }, { after: null, limit: 20 }));
      if (read === null) continue;
      const { blocks, state } = read;
      changedBlocks(whole, { root, type }, NOTHING_KNOWN, since, PROGRAM);
      const places = blocks.map(({ anchor, end }) => ({
        anchor: bytesToBase64(anchor),
        end: bytesToBase64(end),
      }));
      const edits: Edit[] = [
        ...(["start", "end"] as const).map((at): Edit => ({ at, insert: "x" })),
        ...places.flatMap((at): Edit[] => [
          { at: { anchor: at.end }, insert: "x" },
          { at: { anchor: at.anchor }, insert: "x", block: { name: "paragraph" } },
          { at, format: { toString: true } },
          { at, replace: "x" },
        ]),
      ];
      for (const [index, edit] of edits.entries())
        attempt(() => {
          const own = index % 2 === 0 ? ADA : PROGRAM;
          const { update, guard } = applyEdits(whole, { root, type }, [edit], { state, since }, own);
          isOvertaken(guard, received);
          if (update !== null) stateOf([whole, update]);
        });
    }
}

test("whatever an update holds, and however updates overlap: what is accepted stays readable for everyone (D3, D8)", ({
  storage,
}) => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(hostileUpdate, { minLength: 1, maxLength: 4 }), (updates) => {
      const { documents, received } = write(storage, updates);
      accepted += received.length;
      expectReadable(documents, received);
    }),
    { numRuns: 120 },
  );
  expect(accepted).toBeGreaterThan(50);
});

/** One client's structs, each given as numbers and texts. */
const blockOf = (client: number, clock: number, ...structs: readonly (readonly (number | string)[])[]) => [
  structs.length,
  client,
  clock,
  ...structs.flat(),
];

const updateOf = (...blocks: readonly (readonly (number | string)[])[]): Uint8Array =>
  encoding.encode((encoder) => {
    for (const part of [blocks.length, ...blocks.flat(), 0])
      if (typeof part === "string") encoding.writeVarString(encoder, part);
      else encoding.writeVarUint(encoder, part);
  });

/** Text, and collected garbage. */
const typed = (text: string) => [4, 1, "text", text];
const collected = (length: number) => [0, length];

it.each([
  ["what was collected", [updateOf(blockOf(1, 0, collected(1))), updateOf(blockOf(1, 0, typed("abc")))], 3],
  ["what is yet to come", [updateOf(blockOf(1, 1, typed("bcd"))), updateOf(blockOf(1, 0, collected(2)))], 4],
] as const)("an operation that is written again over %s stays what it was (D1, D8)", (_, updates, clock) =>
  withStorage(({ storage }) => {
    expect(() => stateOf(updates)).toThrow();
    const { documents, received } = write(storage, updates);
    expect(received).toHaveLength(2);
    expect(stateOf(received)).toEqual([[1, clock]]);
    expectReadable(documents, received);
  }),
);

test("operations that wait for one another are the same to clients that join later and before (D1, D8)", ({
  storage,
}) => {
  const deleted = (client: number, clock: number) => [1, 0, client, clock, 1];
  const early = updateOf(blockOf(3, 0, deleted(2, 0)), blockOf(2, 2, deleted(1, 0)));
  const late = updateOf(blockOf(2, 0, [7, 1, "text", 0]));
  const { documents, received } = write(storage, [early, late]);
  expect(stateOf(received)).toEqual([
    [2, 1],
    [3, 1],
  ]);
  expectReadable(documents, received);
});

test("an update that begins with a gap is whole for a client that has its deletions only (D1, D8)", ({
  storage,
}) => {
  const gap = Uint8Array.from([1, 1, 3, 0, 10, 1, 1, 1, 1, 0, 1]);
  const { documents, received } = write(storage, [gap, updateOf(blockOf(3, 0, collected(1)))]);
  expect(stateOf(received)).toEqual([[3, 1]]);
  expectReadable(documents, received);
});

it("objects that replace toString are shown like others, where Yjs fails (D23, D27)", () => {
  const hostile = { toString: 1, valueOf: 1 };
  const doc = new Y.Doc();
  const element = new Y.XmlElement("part");
  const text = new Y.XmlText("x");
  doc.getXmlFragment("xml").insert(0, [element, text]);
  element.setAttribute("a", hostile as never);
  text.insertEmbed(1, Object(hostile), { bold: { b: hostile } });
  expect(() => doc.getXmlFragment("xml").toString()).toThrow();
  const update = Y.encodeStateAsUpdate(doc);
  expect(renderContent(update, { type: "xml", root: "xml", maxLength: null }).content).toBe(
    '<part a="[object Object]"></part>x<bold b="[object Object]">[object Object]</bold>',
  );
  const [change] = compareType([], [{ data: update, authors: [ADA] }], "xml", "xml");
  expect(change?.segments?.[0]).toMatchObject({ kind: "tag", text: '<part a="{"toString":1,"valueOf":1}">' });
});

it("a list that is written value by value, and cut at many of them, is built without a copy for each (D27)", () => {
  // The second byte of 136 names the client of the value before.
  const values = Array.from({ length: 20_000 }, (_, at) =>
    at === 0 ? [8, 1, "text", 1, 126] : [136, at - 1, 1, 126],
  );
  const list = updateOf(blockOf(1, 0, ...values));
  const cuts = Array.from({ length: 500 }, (_, index) => [68, 1, index + 1, "|"]);
  const update = mergeMany([list, updateOf(blockOf(2, 0, ...cuts))]);
  const { content } = renderContent(update, { type: "array", root: "text", maxLength: null });
  expect(content).toHaveLength(20_500);
  expect(compareType([], [{ data: update, authors: [ADA] }], "array", "text")).toHaveLength(20_500);
  const back = revertingUpdate(new Uint8Array([0, 0]), update);
  expect(back).not.toBeNull();
});

it("types that are nested too deeply to be deleted are refused, and not a failure (D27)", () => {
  const types = Array.from({ length: 60_000 }, (_, at) =>
    at === 0 ? [39, 1, "map", "in", 1] : [39, 0, 1, at - 1, "in", 1],
  );
  const nested = updateOf(blockOf(1, 0, ...types));
  const update = mergeMany([nested, Uint8Array.from([0, 1, 1, 1, 0, 1])]);
  const show = () => renderContent(update, { type: "map", root: "map", maxLength: 100 });
  expect(show).toThrow("nested too deeply");
});

test("an update that hides what others wrote, by clients in another order than Yjs', is refused (D8)", ({
  storage,
}) => {
  const written = updateOf(blockOf(7, 0, typed("what Ada wrote")));
  const hiding = updateOf(blockOf(1, 0, typed("x")), blockOf(7, 14, typed("!")));
  expect(stateOf([Y.mergeUpdates([written, hiding])])).toEqual([[1, 1]]);
  expect(() => scanUpdate(hiding)).toThrow("descending order");
  expect(write(storage, [written, hiding]).received).toEqual([written]);
});
