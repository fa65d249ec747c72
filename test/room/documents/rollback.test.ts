/** Rollback of one author's edits, against plain Yjs documents. */
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { revertingUpdate, rollbackUpdate } from "../../../src/room/documents/history/rollback.ts";
import type { Author, AuthoredUpdate } from "../../../src/room/types/documents.ts";
import { by, contentOf, type Edit, edit, updatesOf } from "./yjs-edits.ts";

const ALL = Number.MAX_SAFE_INTEGER;

const authored = (
  updates: readonly { readonly client: number | string; readonly update: Uint8Array }[],
): AuthoredUpdate[] =>
  updates.map(({ client, update }, index) => ({ seq: index + 1, authors: [by(client)], data: update }));

const dataOf = (updates: readonly AuthoredUpdate[]) => updates.map(({ data }) => data);

/** Each client writes letters of its own, into the text only. */
const signed = (edits: readonly Edit[]): Edit[] =>
  edits.flatMap((edit) => {
    if (edit.kind === "set" || edit.kind === "push") return [];
    return edit.kind === "insert"
      ? { ...edit, text: "xyz".charAt(edit.client).repeat(edit.text.length) }
      : edit;
  });

/** A document that several users edit in turn; each call is an update. */
function shared() {
  const doc = new Y.Doc();
  const since: AuthoredUpdate[] = [];
  let author: Author = by("ada");
  doc.on("update", (data: Uint8Array) => since.push({ seq: since.length + 1, authors: [author], data }));
  const write = (who: string, edit: (doc: Y.Doc) => void) => {
    author = by(who);
    doc.transact(() => edit(doc));
  };
  /** Rolls back the edits of one of them, as another edit; false when there is nothing to roll back. */
  const rollBack = (who: string, upTo = ALL, from = 0): boolean => {
    const update = rollbackUpdate(dataOf(since.slice(0, from)), since.slice(from), { author: by(who), upTo });
    if (update === null) return false;
    author = by("key");
    Y.applyUpdate(doc, update, null);
    return true;
  };
  return { doc, since, write, rollBack };
}

it("takes back all that one has inserted, and nothing that others have (D25)", () => {
  fc.assert(
    fc.property(
      fc.array(edit, { minLength: 1, maxLength: 30 }),
      fc.nat({ max: 30 }),
      fc.nat({ max: 2 }),
      (edits, end, who) => {
        const all = authored(updatesOf(signed(edits)));
        const [before, since] = [dataOf(all.slice(0, end)), all.slice(end)];
        const rollback = rollbackUpdate(before, since, { author: by(who), upTo: ALL });
        const after = rollback === null ? dataOf(all) : [...dataOf(all), rollback];
        const [was, then, is] = [before, dataOf(all), after].map((updates) =>
          lettersOf(contentOf(updates).text),
        );
        for (const [client, letter] of [..."xyz"].entries()) {
          const [had, shown, left] = [was, then, is].map(
            (text) => [...(text ?? "")].filter((each) => each === letter).length,
          );
          // The author has no more text than before; others have their present text and what the author had
          // deleted.
          if (client === who) expect(left ?? 0).toBeLessThanOrEqual(had ?? 0);
          else expect(left ?? 0).toBeGreaterThanOrEqual(shown ?? 0);
        }
        expect(
          rollbackUpdate(before, [...since, ...asServer(rollback, all.length)], {
            author: by(who),
            upTo: ALL,
          }),
        ).toBeNull();
      },
    ),
    { numRuns: 100 },
  );
});

it("of someone who wrote alone since, brings the document back to what it was (D25)", () => {
  fc.assert(
    fc.property(
      fc.array(edit, { minLength: 1, maxLength: 20 }),
      fc.array(edit, { minLength: 1, maxLength: 20 }),
      (earlier, own) => {
        const all = updatesOf([
          ...earlier,
          { client: 0, kind: "pull", from: 1 },
          { client: 0, kind: "pull", from: 2 },
          ...own.flatMap((edit) => (edit.kind === "pull" ? [] : { ...edit, client: 0 })),
        ]);
        const end = updatesOf(earlier).length;
        const before = all.slice(0, end).map(({ update }) => update);
        const since = all
          .slice(end)
          .map(({ update }, index) => ({ seq: end + index + 1, authors: [by(0)], data: update }));
        const rollback = rollbackUpdate(before, since, { author: by(0), upTo: ALL });
        const after = [...before, ...dataOf(since), ...(rollback === null ? [] : [rollback])];
        const { state: _, ...shown } = contentOf(after);
        expect(shown).toEqual((({ state: _, ...was }) => was)(contentOf(before)));
      },
    ),
    { numRuns: 60 },
  );
});

it("leaves what is written meanwhile, wherever it arrives first (D25)", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 20 }), fc.nat({ max: 30 }), (edits, at) => {
      const all = authored(updatesOf(edits));
      const rollback = rollbackUpdate([], all, { author: by(0), upTo: ALL });
      if (rollback === null) return;
      const meanwhile = new Y.Doc();
      for (const update of dataOf(all)) Y.applyUpdate(meanwhile, update);
      const vector = Y.encodeStateVector(meanwhile);
      const text = meanwhile.getText("text");
      text.insert(Math.min(at, text.length), "[meanwhile]");
      const written = Y.encodeStateAsUpdate(meanwhile, vector);
      const [one, other] = [
        [...dataOf(all), rollback, written],
        [...dataOf(all), written, rollback],
      ].map(contentOf);
      expect(one).toEqual(other);
      expect(lettersOf(one?.text).split("[meanwhile]")).toHaveLength(2);
    }),
    { numRuns: 40 },
  );
});

it("keeps the containers and entries in which others have written since (D25)", () => {
  const { doc, write, rollBack } = shared();
  const [map, list] = [doc.getMap("map"), doc.getXmlFragment("xml")];
  write("ben", () => map.set("title", "Ben's"));
  write("ada", () => {
    map.set("title", "Ada's");
    map.set("mine", 1);
    list.insert(0, [new Y.XmlElement("own"), new Y.XmlElement("common")]);
    const common = list.get(1);
    if (common instanceof Y.XmlElement) common.insert(0, [new Y.XmlText("by Ada ")]);
  });
  write("ben", () => {
    const common = list.get(1);
    const text = common instanceof Y.XmlElement ? common.get(0) : null;
    if (text instanceof Y.XmlText) text.insert(7, "and Ben");
  });
  expect(rollBack("ada")).toBe(true);
  expect([map.toJSON(), list.toString()]).toEqual([{ title: "Ben's" }, "<common>and Ben</common>"]);

  const other = shared();
  const entries = other.doc.getMap("map");
  other.write("ben", () => entries.set("kept", 1).toString());
  other.write("ben", () => entries.set("gone", 1).toString());
  other.write("ada", () => {
    entries.set("kept", 2);
    entries.set("gone", 2);
  });
  other.write("ben", () => {
    entries.set("kept", 3);
    entries.delete("gone");
  });
  expect([other.rollBack("ada"), entries.toJSON()]).toEqual([false, { kept: 3 }]);
});

it("writes again what was deleted, once, and not what a restore has written again (D25)", () => {
  const { doc, since, write, rollBack } = shared();
  const text = doc.getText("text");
  write("ben", () => text.insert(0, "one two three"));
  write("ada", () => text.delete(4, 4));
  expect([rollBack("ada"), text.toString()]).toEqual([true, "one two three"]);
  expect([rollBack("ada"), text.toString()]).toEqual([false, "one two three"]);
  write("ben", () => text.delete(5, 1));
  expect([rollBack("ada"), text.toString()]).toEqual([false, "one to three"]);
  write("ada", () => text.delete(0, 4));
  const merge = (updates: readonly Uint8Array[]) => Y.mergeUpdates([...updates]);
  const back = revertingUpdate(merge(dataOf(since.slice(0, 4))), merge(dataOf(since)));
  if (back === null) throw new Error("There was nothing to restore");
  write("ben", () => Y.applyUpdate(doc, back));
  expect([rollBack("ada"), text.toString()]).toEqual([false, "one to three"]);
});

it("takes back no more than was written between the two points, and undo takes it back (D25)", () => {
  const { doc, since, write, rollBack } = shared();
  const text = doc.getText("text");
  const undo = new Y.UndoManager(text, { captureTimeout: 0, trackedOrigins: new Set([null]) });
  write("ada", () => text.insert(0, "one"));
  write("ada", () => text.insert(3, " two"));
  write("ada", () => text.insert(7, " three"));
  undo.clear();
  expect([rollBack("ada", 2, 1), text.toString()]).toEqual([true, "one three"]);
  undo.undo();
  expect(text.toString()).toBe("one two three");
  expect(rollbackUpdate([], since, { author: by("ben"), upTo: ALL })).toBeNull();
});

it("does not write again what its author's own undo has written again since (D25)", () => {
  const { doc, since, write, rollBack } = shared();
  const [text, list, xml] = [doc.getText("text"), doc.getArray("list"), doc.getXmlFragment("xml")];
  const shown = () => [text.toString(), list.toJSON(), xml.toString()];
  const paragraph = new Y.XmlElement("p");
  write("ben", () => {
    text.insert(0, "one two three");
    list.insert(0, [1, "two", { a: 3 }]);
    paragraph.setAttribute("class", "lead");
    paragraph.insert(0, [new Y.XmlText("four five")]);
    xml.insert(0, [paragraph, new Y.XmlElement("hr")]);
  });
  const before = shown();
  const undo = new Y.UndoManager([text, list, xml], { captureTimeout: 0, trackedOrigins: new Set([null]) });
  write("ada", () => text.delete(4, 2));
  write("ada", () => text.delete(4, 2));
  write("ada", () => list.delete(0, 3));
  write("ada", () => xml.delete(0, 1));
  const to = since.length;
  for (let steps = 0; steps < 4; steps += 1) undo.undo();
  expect(shown()).toEqual(before);
  expect([rollBack("ada", to), shown()]).toEqual([false, before]);
  write("ben", () => text.insert(8, "and "));
  expect(rollBack("ada", to)).toBe(false);
});

it("writes again what was deleted where others have written something else since (D25)", () => {
  const { doc, since, write, rollBack } = shared();
  const [text, list, xml] = [doc.getText("text"), doc.getArray("list"), doc.getXmlFragment("xml")];
  write("ben", () => {
    text.insert(0, "a cat");
    list.insert(0, [1, 2, 3]);
    const paragraph = new Y.XmlElement("p");
    paragraph.insert(0, [new Y.XmlText("kept")]);
    xml.insert(0, [paragraph]);
  });
  write("ada", () => {
    text.delete(2, 3);
    list.delete(0, 3);
    xml.delete(0, 1);
  });
  const to = since.length;
  write("ben", () => {
    text.insert(2, "car");
    list.insert(0, [1, 2, 4]);
    xml.insert(0, [new Y.XmlElement("p")]);
  });
  expect(rollBack("ada", to)).toBe(true);
  const shown = [text.toString(), list.toJSON(), xml.toString()];
  expect(shown).toEqual(["a catcar", [1, 2, 4, 1, 2, 3], "<p></p><p>kept</p>"]);
});

/** The text of a delta. */
const lettersOf = (delta: unknown): string =>
  (Array.isArray(delta) ? delta : []).map(({ insert }: { insert: string }) => insert).join("");

const asServer = (update: Uint8Array | null, seq: number): AuthoredUpdate[] =>
  update === null ? [] : [{ seq: seq + 1, authors: [{ type: "key", id: "key" }], data: update }];
