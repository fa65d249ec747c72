/** A room's documents against plain Yjs documents: whatever is appended, cut, folded or restarted, nothing is lost. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import fc from "fast-check";
import { describe, expect } from "vitest";
import * as Y from "yjs";
import { DocumentHistory } from "../../../src/room/documents/document-history.ts";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import { Channels } from "../../../src/room/documents/sync/channels.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
import type { Author } from "../../../src/room/types/documents.ts";
import { test } from "../support/with-storage.ts";
import { FREE } from "./opened-documents.ts";
import { by, contentOf, edit, letters, missing, NOTHING_KNOWN, updatesOf } from "./yjs-edits.ts";

const ORGANIZATION: Author = { type: "organization" };

const textOf = (updates: Iterable<Uint8Array>) => contentOf(updates).text;

describe("documents", () => {
  test("are what Yjs makes of the same updates, through folding, restarts and repetitions (D1, D3, D4, D6)", ({
    reopen,
  }) => {
    let document = 0;
    const step = fc.constantFrom("append", "append", "append", "fold", "restart", "repeat");
    fc.assert(
      fc.property(
        fc.array(edit, { maxLength: 40 }),
        fc.array(step, { minLength: 5, maxLength: 30 }),
        fc.boolean(),
        (edits, steps, isReversed) => {
          const name = `document ${document++}`;
          let documents = new RoomDocuments({ ...FREE, storage: reopen(), now: () => document });
          const updates = updatesOf(edits);
          if (isReversed) updates.reverse();
          const doc = new Y.Doc();
          const half: Uint8Array[] = [];
          for (const [index, { client, update }] of updates.entries()) {
            documents.append(name, update, by(client));
            Y.applyUpdate(doc, update);
            if (index === updates.length >> 1) half.push(...missing(documents, name, NOTHING_KNOWN));
            const then = steps[index % steps.length];
            if (then === "fold") documents.fold(name);
            if (then === "restart")
              documents = new RoomDocuments({ ...FREE, storage: reopen(), now: () => document });
            if (then === "repeat") expect(documents.append(name, update, by("other"))).toBeNull();
          }
          const plain = contentOf(updates.map(({ update }) => update));
          expect(contentOf(missing(documents, name, NOTHING_KNOWN))).toEqual(plain);
          const behind = new Y.Doc();
          for (const update of half) Y.applyUpdate(behind, update);
          const rest = missing(documents, name, Y.encodeStateVector(behind));
          expect(contentOf([...half, ...rest])).toEqual(plain);
          const vector = [...Y.decodeStateVector(documents.stateVector(name))].sort();
          expect(vector).toEqual([...Y.decodeStateVector(Y.encodeStateVector(doc))].sort());
        },
      ),
      { numRuns: 40 },
    );
  });

  test("send nothing of what was deleted once they are folded, and keep it in their trail (D26)", ({
    storage,
  }) => {
    const documents = new RoomDocuments({ ...FREE, storage, now: () => 1_000 });
    const history = new DocumentHistory({ ...FREE, storage, now: () => 1_000 }, documents);
    const edits = [
      { client: 0, kind: "insert", at: 0, text: "said and unsaid" },
      { client: 0, kind: "delete", at: 4, length: 11 },
    ] as const;
    for (const { update } of updatesOf(edits)) documents.append("notes", update, by("ada"));
    documents.fold("notes");
    const sent = missing(documents, "notes", NOTHING_KNOWN);
    const kept = history.written("notes", { after: 0, upTo: null }).map(({ data }) => data);
    const says = (updates: readonly Uint8Array[]) =>
      updates.map((data) => new TextDecoder().decode(data)).join();
    expect(says(sent)).not.toContain("unsaid");
    expect(says(kept)).toContain("unsaid");
    expect(textOf(sent)).toEqual([{ insert: "said" }]);
  });

  test("have a deletion once, by who made it, though clients repeat all of them when they connect (D3)", ({
    storage,
  }) => {
    const documents = new RoomDocuments({ ...FREE, storage, now: () => 1_000 });
    const [ada, ben] = [new Y.Doc(), new Y.Doc()];
    const send = (doc: Y.Doc, author: string): Uint8Array | null =>
      documents.append("notes", Y.encodeStateAsUpdate(doc, documents.stateVector("notes")), by(author));
    ada.getText("text").insert(0, "one two three");
    send(ada, "ada");
    ada.getText("text").delete(0, 4);
    send(ada, "ada");
    Y.applyUpdate(ben, Y.encodeStateAsUpdate(ada));
    ben.getText("text").delete(0, 4);
    ben.getText("text").insert(0, "2 ");
    expect(scanUpdate(send(ben, "ben") ?? new Uint8Array([0, 0]))).toEqual({
      inserted: [{ client: ben.clientID, start: 0, end: 2 }],
      deleted: [{ client: ada.clientID, start: 4, end: 8 }],
    });
    expect(textOf(missing(documents, "notes", NOTHING_KNOWN))).toEqual([{ insert: "2 three" }]);
  });

  test("keep who wrote what, in stretches of a minute, when they are folded (D5)", ({ storage }) => {
    let now = 1_000;
    const documents = new RoomDocuments({ ...FREE, storage, now: () => now });
    const updates = letters(6);
    for (const [index, update] of updates.entries()) {
      documents.append("notes", update, by(index === 2 ? "ben" : "ada"));
      now += index === 4 ? 100_000 : 1_000;
    }
    documents.fold("notes");
    const id = storage.documents.find("notes")?.id ?? 0;
    const trail = storage.documents.listUpdates(id, 0);
    expect(
      trail.map(({ authors, updates, seq, firstAt, at }) => ({ authors, updates, seq, firstAt, at })),
    ).toEqual([
      { authors: [by("ada")], updates: 2, seq: 2, firstAt: 1_000, at: 2_000 },
      { authors: [by("ben")], updates: 1, seq: 3, firstAt: 3_000, at: 3_000 },
      { authors: [by("ada")], updates: 2, seq: 5, firstAt: 4_000, at: 5_000 },
      { authors: [by("ada")], updates: 1, seq: 6, firstAt: 105_000, at: 105_000 },
    ]);
    expect(textOf(trail.map(({ data }) => data))).toEqual(textOf(updates));
    expect(documents.list()).toEqual([
      { name: "notes", bytes: expect.any(Number), seq: 6, createdAt: 1_000, updatedAt: 105_000 },
    ]);
    // Folded updates are stored twice: as the document, and as its history.
    const [info] = documents.list();
    expect(documents.describe("notes")).toEqual({ ...info, id, versions: 0, storedBytes: documents.bytes });
    expect(documents.bytes).toBeGreaterThan(info?.bytes ?? 0);
    expect(documents.describe("others")).toBeNull();
  });

  test("have a trail that is the same before and after folding, in pages of any size (D5)", ({ reopen }) => {
    const author = fc.constantFrom<Author>(by("ada"), by("ben"), { type: "key", id: "ada" }, ORGANIZATION);
    const write = fc.record({ author, wait: fc.constantFrom(0, 1_000, 59_000, 100_000) });
    let document = 0;
    fc.assert(
      fc.property(
        fc.array(write, { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 20 }),
        fc.integer({ min: 1, max: 4 }),
        (writes, foldedAt, limit) => {
          let now = 1_000_000;
          const [storage, name] = [reopen(), `document ${document++}`];
          const documents = new RoomDocuments({ ...FREE, storage, now: () => now });
          for (const [index, update] of letters(writes.length).entries()) {
            if (index === foldedAt) documents.fold(name);
            now += writes[index]?.wait ?? 0;
            documents.append(name, update, writes[index]?.author ?? ORGANIZATION);
          }
          const history = new DocumentHistory({ ...FREE, storage, now: () => now }, documents);
          const page = (before: number, limit: number) => history.trail(name, { before, limit }) ?? [];
          const all = page(1_000, 100);
          const paged: unknown[] = [];
          for (let before = 1_000; before > 1; ) {
            const entries = page(before, limit);
            paged.push(...entries);
            const last = entries.at(-1);
            before = last === undefined ? 0 : last.seq - last.updates + 1;
          }
          expect(paged).toEqual(all);
          documents.fold(name);
          const folded = page(1_000, 100);
          expect(folded.map(({ bytes: _, ...entry }) => entry)).toEqual(
            all.map(({ bytes: _, ...entry }) => entry),
          );
          const authors = folded.flatMap(({ authors, updates }) =>
            Array.from({ length: updates }, () => authors),
          );
          expect(authors.reverse()).toEqual(writes.map(({ author }) => [author]));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("keep data of any size, and are sent in parts when they are large (D2, D4)", ({ reopen }) => {
    const documents = new RoomDocuments({ ...FREE, storage: reopen(), now: () => 1 });
    const doc = new Y.Doc();
    doc.on("update", (update: Uint8Array) => documents.append("large", update, by("ada")));
    for (let index = 0; index < 3; index += 1) {
      doc.getText("text").insert(0, "y".repeat(2_500_000));
      documents.fold("large");
    }
    doc.getText("text").insert(3, "end");
    const restarted = new RoomDocuments({ ...FREE, storage: reopen(), now: () => 1 });
    const parts = missing(restarted, "large", NOTHING_KNOWN);
    expect(parts.length).toBeGreaterThan(1);
    expect(textOf(parts)).toEqual(doc.getText("text").toDelta());
  });

  test("refuse what is no update, or too long, and stay as they were (D2, D8)", ({ storage }) => {
    const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
    expect(() => documents.append("notes", new Uint8Array([1, 2, 3]), by("ada"))).toThrow(
      /^update: is not a Yjs update/,
    );
    expect(() =>
      documents.append("notes", new Uint8Array(DOCUMENT_LIMITS.updateBytes + 1), by("ada")),
    ).toThrow(/^update: must have/);
    expect(documents.append("notes", new Uint8Array([0, 0]), by("ada"))).toBeNull();
    expect(documents.list()).toEqual([]);
  });

  test("are seeded once, and again after a deletion, which leaves nothing (D16)", ({ reopen }) => {
    const documents = new RoomDocuments({ ...FREE, storage: reopen(), now: () => 1 });
    const [seed = new Uint8Array(), other = new Uint8Array()] = [letters(1)[0], letters(1, 1)[0]];
    expect([
      documents.seed("notes", seed, ORGANIZATION),
      documents.seed("notes", other, ORGANIZATION),
    ]).toEqual([seed, null]);
    expect(textOf(missing(documents, "notes", NOTHING_KNOWN))).toEqual([{ insert: "a" }]);
    documents.fold("notes");
    documents.delete("notes", "none", "notes");
    expect(documents.list()).toEqual([]);
    expect(documents.seed("notes", other, ORGANIZATION)).toBe(other);
    expect(reopen().documents.listUpdates(reopen().documents.find("notes")?.id ?? 0, 0)).toHaveLength(1);
  });
});

test("a room has a limited number of documents (D2)", ({ storage }) => {
  for (let index = 0; index < DOCUMENT_LIMITS.documents; index += 1)
    storage.documents.insert(`document ${index}`, 1);
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const [update = new Uint8Array()] = letters(1);
  expect(() => documents.append("one more", update, ORGANIZATION)).toThrow(/at most 1000 documents/);
  expect(documents.append("document 1", update, ORGANIZATION)).toBe(update);
});

test("a document that cannot be folded holds up no other (D4)", ({ storage }) => {
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const channels = new Channels(documents);
  for (const name of ["broken", "sound"]) {
    for (const update of letters(DOCUMENT_LIMITS.foldUpdates)) documents.append(name, update, by("ada"));
    channels.foldIfDue(name);
  }
  const { id } = storage.documents.find("broken") ?? { id: 0 };
  const fold = storage.documents.writePart;
  storage.documents.writePart = (...part) => {
    if (part[0] === id) throw new Error("fault: storage");
    fold.apply(storage.documents, part);
  };
  expect(() => channels.foldDue(() => undefined)).toThrow("fault: storage");
  const folded = (name: string) => storage.documents.find(name)?.foldedSeq;
  expect([folded("broken"), folded("sound")]).toEqual([0, DOCUMENT_LIMITS.foldUpdates]);
  expect(channels.foldIfDue("broken")).toEqual([{ type: "foldDocuments" }]);
});

test("an update that could not be stored was never made (D1)", ({ storage }) => {
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const [first = new Uint8Array(), second = new Uint8Array()] = letters(2);
  documents.append("notes", first, by("ada"));
  const failing = new RoomDocuments({
    ...FREE,
    storage: Object.assign(Object.create(storage) as typeof storage, {
      transaction: () => {
        throw new Error("fault: storage");
      },
    }),
    now: () => 1,
  });
  expect(() => failing.append("notes", second, by("ada"))).toThrow("fault: storage");
  expect(textOf(missing(failing, "notes", NOTHING_KNOWN))).toEqual([{ insert: "a" }]);
  expect(documents.append("notes", second, by("ada"))).toBe(second);
});
