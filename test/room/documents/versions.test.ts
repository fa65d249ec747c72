/** Versions of documents: points in their trails, against plain Yjs documents. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { VersionInfo } from "../../../src/room/types/documents.ts";
import { test } from "../support/with-storage.ts";
import { ALL, openDocuments } from "./opened-documents.ts";
import { by, contentOf, edit, letters, updatesOf } from "./yjs-edits.ts";

const seqs = (versions: readonly VersionInfo[] | null) => versions?.map(({ seq }) => seq);

describe("versions", () => {
  test("have what was written until then, with its authors, through folding and restarts (D20)", ({
    storage,
    reopen,
  }) => {
    let document = 0;
    const waits = fc.constantFrom(
      0,
      1_000,
      59_000,
      DOCUMENT_LIMITS.versionQuietMs - 1,
      DOCUMENT_LIMITS.versionQuietMs,
    );
    const then = fc.constantFrom("nothing", "nothing", "fold", "restart", "name", "delete");
    fc.assert(
      fc.property(
        fc.array(edit, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(waits, then), { minLength: 3, maxLength: 20 }),
        (edits, steps) => {
          const name = `document ${document++}`;
          let { clock, documents, history, read } = openDocuments(storage);
          const updates = updatesOf(edits);
          for (const [index, { client, update }] of updates.entries()) {
            const [wait = 0, next = "nothing"] = steps[index % steps.length] ?? [];
            clock.now += wait;
            documents.append(name, update, by(client));
            if (next === "fold") documents.fold(name);
            if (next === "restart")
              ({ clock, documents, history, read } = openDocuments(reopen(), clock.now));
            if (next === "name") history.change(name, { type: "create", name: "v", by: by(0) });
            const [latest] = history.versions(name, ALL) ?? [];
            if (next === "delete" && latest !== undefined)
              history.change(name, { type: "delete", seq: latest.seq });
          }
          documents.fold(name);
          let end = 0;
          for (const { seq, authors } of [...(history.versions(name, ALL) ?? [])].reverse()) {
            const had = updates.slice(0, seq).map(({ update }) => update);
            expect(contentOf(read(name, seq) ?? [])).toEqual(contentOf(had));
            const wrote = new Set(updates.slice(end, seq).map(({ client }) => client));
            expect(new Set(authors)).toEqual(new Set([...wrote].map(by)));
            end = seq;
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("have nothing that their author wrote a moment later, however the document is folded (D20)", ({
    storage,
  }) => {
    const { documents, history, read } = openDocuments(storage);
    const [first = new Uint8Array(), second = new Uint8Array()] = letters(2);
    documents.append("notes", first, by("ada"));
    history.change("notes", { type: "create", name: "Draft", by: by("ada") });
    documents.append("notes", second, by("ada"));
    documents.fold("notes");
    expect(contentOf(read("notes", 1) ?? [])).toEqual(contentOf([first]));
  });

  test("are made by the room before the first change after a pause, and after a while of editing (D20)", ({
    storage,
  }) => {
    const { clock, documents, history } = openDocuments(storage);
    const start = clock.now;
    const [first, ...others] = letters(10);
    const write = (update: Uint8Array = new Uint8Array()) => documents.append("notes", update, by("ada"));
    write(first);
    clock.now += DOCUMENT_LIMITS.versionQuietMs - 1;
    write(others[0]);
    expect(history.versions("notes", ALL)).toEqual([]);
    clock.now += DOCUMENT_LIMITS.versionQuietMs;
    write(others[1]);
    expect(history.versions("notes", ALL)).toEqual([
      {
        ...{ seq: 2, name: null, namedBy: null, authors: [by("ada")] },
        ...{ at: start + DOCUMENT_LIMITS.versionQuietMs - 1, createdAt: clock.now },
      },
    ]);
    for (const update of others.slice(2, 8)) {
      clock.now += DOCUMENT_LIMITS.versionEditingMs / 5;
      write(update);
    }
    expect(seqs(history.versions("notes", ALL))).toEqual([7, 2]);
    expect(seqs(history.versions("notes", { before: 7, limit: 5 }))).toEqual([2]);
    expect(seqs(history.versions("notes", { before: 9, limit: 1 }))).toEqual([7]);
  });

  test("are named, renamed and deleted, one for each point, and go with their document (D20)", ({
    storage,
  }) => {
    const { documents, history, read } = openDocuments(storage);
    const [first = new Uint8Array(), second = new Uint8Array()] = letters(2);
    const create = (name: string) => history.change("notes", { type: "create", name, by: by("ada") });
    expect(() => create("Draft")).toThrow("Document not found");
    documents.append("notes", first, by("ada"));
    expect(create("Draft")).toMatchObject({ seq: 1, name: "Draft", namedBy: by("ada") });
    expect(() => create("Again")).toThrow('Nothing has changed since version "Draft"');
    documents.append("notes", second, by("ben"));
    expect(create("Final")).toMatchObject({ seq: 2, authors: [by("ben")] });
    history.change("notes", { type: "rename", seq: 1, name: "First", by: by("ben") });
    history.change("notes", { type: "rename", seq: 2, name: null, by: by("ben") });
    expect(history.versions("notes", ALL)).toMatchObject([
      { seq: 2, name: null, namedBy: null },
      { seq: 1, name: "First", namedBy: by("ben") },
    ]);
    history.change("notes", { type: "delete", seq: 1 });
    expect(history.versions("notes", ALL)).toMatchObject([{ seq: 2, authors: [by("ada"), by("ben")] }]);
    expect(() => history.change("notes", { type: "delete", seq: 1 })).toThrow("Version not found");
    expect(read("notes", 1)).toBeNull();
    documents.delete("notes");
    documents.append("notes", first, by("ada"));
    expect(history.versions("notes", ALL)).toEqual([]);
  });
});

test("a document has a limited number of named versions (D20)", ({ storage }) => {
  const { documents, history } = openDocuments(storage);
  for (const update of letters(1)) documents.append("notes", update, by("ada"));
  const { id = 0 } = storage.documents.find("notes") ?? {};
  const version = { at: 1, createdAt: 1, namedBy: by("ada"), authors: [] };
  for (let index = 1; index <= DOCUMENT_LIMITS.namedVersions; index += 1)
    storage.versions.put(id, { ...version, seq: 1 + index, name: `${index}` });
  expect(() => history.change("notes", { type: "create", name: "more", by: by("ada") })).toThrow(
    "at most 1000 named versions",
  );
  expect(history.versions("notes", { before: 2, limit: 1 })).toEqual([]);
});

test("a version is read in parts of a bounded size, and not beyond its document's deletion (D20)", ({
  storage,
}) => {
  const { documents, history } = openDocuments(storage);
  const texts = ["x", "y", "z"].map((letter) => letter.repeat(5_000_000));
  const edits = texts.map((text, client) => ({ client, kind: "insert", at: 0, text }) as const);
  const updates = updatesOf(edits).map(({ update }) => update);
  for (const update of updates) documents.append("large", update, by("ada"));
  history.change("large", { type: "create", name: "v", by: by("ada") });
  const first = history.read("large", 3, { documentId: null, afterSeq: 0 });
  expect(first?.updates.map(({ length }) => length)).toEqual([updates[0]?.length]);
  if (first?.next == null) throw new Error("It was read at once");
  documents.delete("large");
  expect(history.read("large", 3, first.next)).toBeNull();
});
