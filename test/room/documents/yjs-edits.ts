/** Random Yjs documents for tests: edits of several clients, each as the update that it makes. */
import fc from "fast-check";
import { expect } from "vitest";
import * as Y from "yjs";
import type { RoomDocuments } from "../../../src/room/documents/documents.ts";
import type { Author } from "../../../src/room/types/documents.ts";
import { ofKind } from "../../support/steps.ts";

/** One edit of one client, or the arrival of another client's document. */
export type Edit =
  | { readonly client: number; readonly kind: "insert"; readonly at: number; readonly text: string }
  | { readonly client: number; readonly kind: "delete"; readonly at: number; readonly length: number }
  | { readonly client: number; readonly kind: "set"; readonly key: string; readonly value: number }
  | { readonly client: number; readonly kind: "push"; readonly value: string }
  | { readonly client: number; readonly kind: "format"; readonly at: number; readonly length: number }
  | { readonly client: number; readonly kind: "pull"; readonly from: number };

const client = fc.nat({ max: 2 });
const at = fc.nat({ max: 40 });
const length = fc.integer({ min: 1, max: 6 });

export const edit: fc.Arbitrary<Edit> = fc.oneof(
  ofKind(1, ["insert"], { client, at, text: fc.constantFrom("a", "bc", "Ä✨", "long text ") }),
  ofKind(2, ["delete", "format"], { client, at, length }),
  ofKind(1, ["set"], { client, key: fc.constantFrom("x", "y"), value: fc.nat() }),
  ofKind(1, ["push"], { client, value: fc.string({ maxLength: 4 }) }),
  ofKind(1, ["pull"], { client, from: client }),
);

function apply(doc: Y.Doc, edit: Edit, docs: readonly Y.Doc[]): void {
  const text = doc.getText("text");
  const start = Math.min("at" in edit ? edit.at : 0, text.length);
  const length = "length" in edit ? edit.length : 0;
  switch (edit.kind) {
    case "insert":
      text.insert(start, edit.text);
      break;
    case "delete":
      text.delete(start, Math.min(length, text.length - start));
      break;
    case "format":
      text.format(start, Math.min(length, text.length - start), { bold: true });
      break;
    case "set":
      doc.getMap("map").set(edit.key, edit.value);
      break;
    case "push":
      doc.getArray("list").push([{ value: edit.value }, new Y.Text(edit.value)]);
      break;
    case "pull": {
      const from = docs[edit.from];
      if (from !== undefined) Y.applyUpdate(doc, Y.encodeStateAsUpdate(from), "pull");
    }
  }
}

/** The updates that the edits make, in their order, with the client that made each. */
export function updatesOf(
  edits: readonly Edit[],
): { readonly client: number; readonly update: Uint8Array }[] {
  const docs = [0, 1, 2].map((index) => {
    const doc = new Y.Doc();
    doc.clientID = index + 1;
    return doc;
  });
  const updates: { client: number; update: Uint8Array }[] = [];
  for (const [index, doc] of docs.entries()) {
    doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "pull") updates.push({ client: index, update });
    });
  }
  for (const next of edits) {
    const doc = docs[next.client];
    if (doc !== undefined) apply(doc, next, docs);
  }
  return updates;
}

/** The updates of one client that types this number of letters. */
export const letters = (count: number, client = 0): Uint8Array[] =>
  updatesOf(Array.from({ length: count }, () => ({ client, kind: "insert", at: 0, text: "a" }) as const)).map(
    ({ update }) => update,
  );

export const by = (id: string | number): Author => ({ type: "user", id: `user ${id}` });

/** The state vector of a client that has nothing. */
export const NOTHING_KNOWN = new Uint8Array([0]);

/** Updates that a client with this state vector receives of a document, in order. */
export const missing = (documents: RoomDocuments, name: string, stateVector: Uint8Array): Uint8Array[] =>
  Array.from({ length: documents.partCount(name) }, (_, part) =>
    documents.missingPart(name, stateVector, part),
  );

/** Content of a document, for comparison. */
export function contentOf(updates: Iterable<Uint8Array>) {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  return {
    text: doc.getText("text").toDelta() as unknown,
    map: doc.getMap("map").toJSON(),
    list: doc.getArray("list").toJSON(),
    state: [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(),
  };
}

/** An edit of the document and one that was written meanwhile: nothing is lost, whichever arrives first. */
export function expectMeanwhileKept(updates: readonly Uint8Array[], edit: Uint8Array, at: number): void {
  const meanwhile = new Y.Doc();
  for (const update of updates) Y.applyUpdate(meanwhile, update);
  const vector = Y.encodeStateVector(meanwhile);
  const text = meanwhile.getText("text");
  text.insert(Math.min(at, text.length), "[meanwhile]");
  meanwhile.getMap("map").set("meanwhile", 1);
  const written = Y.encodeStateAsUpdate(meanwhile, vector);
  const shown = contentOf([...updates, edit, written]);
  expect(contentOf([...updates, written, edit])).toEqual(shown);
  expect(JSON.stringify(shown.text).split("[meanwhile]")).toHaveLength(2);
  expect(shown.map).toMatchObject({ meanwhile: 1 });
}
