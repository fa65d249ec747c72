/** Changes of several documents that fail: what they wrote is forgotten, and a refusal costs nothing. */
import { expect, vi } from "vitest";
import * as Y from "yjs";
import { test } from "../support/with-storage.ts";
import { openDocuments } from "./opened-documents.ts";

const ADA = { type: "user", id: "ada" } as const;

const updateOf = (text: string): Uint8Array => {
  const doc = new Y.Doc();
  doc.getText("text").insert(0, text);
  return Y.encodeStateAsUpdate(doc);
};

const refuse = (): never => {
  throw new Error("refused");
};

test("a refusal before any write leaves the documents in memory, and one after a write forgets it (G3)", ({
  storage,
}) => {
  const { documents } = openDocuments(storage);
  documents.append("notes", updateOf("one"), ADA);
  const find = vi.spyOn(storage.documents, "find");
  expect(() => documents.undoable(() => storage.transaction(refuse))).toThrow("refused");
  expect([documents.seqOf("notes"), find.mock.calls.length]).toEqual([1, 0]);
  const change = () => {
    documents.append("notes", updateOf("two"), ADA);
    refuse();
  };
  expect(() => documents.undoable(() => storage.transaction(change))).toThrow("refused");
  expect([documents.seqOf("notes"), find.mock.calls.length]).toEqual([1, 1]);
});

test("forks are in no list of documents, and count in their bytes (G8)", ({ storage }) => {
  const { documents } = openDocuments(storage);
  for (const name of ["notes", "~suggestions/one", "~suggestions"])
    documents.append(name, updateOf(name), ADA);
  documents.fold("notes");
  const find = vi.spyOn(storage.documents, "list");
  expect(documents.list().map(({ name }) => name)).toEqual(["notes", "~suggestions"]);
  expect(storage.documents.countOrdinary()).toBe(2);
  const stored = ["notes", "~suggestions/one", "~suggestions"].map((name) => documents.describe(name));
  documents.reset();
  expect(documents.bytes).toBe(stored.reduce((sum, each) => sum + (each?.storedBytes ?? 0), 0));
  expect(find).not.toHaveBeenCalled();
});
