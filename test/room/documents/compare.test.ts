/** Comparing two points of a document's history, against plain Yjs documents. */
import type { SharedType } from "@atrium/contract/shared-types.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { type Change, compareType } from "../../../src/room/documents/compare/compare.ts";
import type { Authored } from "../../../src/room/documents/history/attribution.ts";
import { revertingUpdate } from "../../../src/room/documents/history/rollback.ts";

import { by, type Edit, edit, updatesOf } from "./yjs-edits.ts";

const authored = (data: Uint8Array, id: string | number = 0): Authored => ({ data, authors: [by(id)] });

function built(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc({ gc: false });
  for (const update of updates) Y.applyUpdate(doc, update);
  return doc;
}

/** A document that changes, and the differences between two of its states. */
function changing(fill: (doc: Y.Doc) => void, change: (doc: Y.Doc) => void) {
  const doc = new Y.Doc();
  doc.transact(() => fill(doc));
  const before = Y.encodeStateAsUpdate(doc);
  const since: Authored[] = [];
  doc.on("update", (update: Uint8Array) => since.push(authored(update)));
  change(doc);
  const compare = (type: SharedType, root = "root") => compareType([before], since, type, root);
  return { doc, before, since, compare };
}

const segmentsOf = (changes: readonly Change[]) =>
  changes.flatMap(({ segments }) => segments ?? []).map(({ op, text }) => [op, text]);

/** The text before or after the changes, from the segments. */
const textOf = (changes: readonly Change[], gone: "insert" | "delete") =>
  changes
    .flatMap(({ segments }) => segments ?? [])
    .filter(({ op }) => op !== gone)
    .map(({ text }) => text)
    .join("");

/** Carries out changes on a value. */
function patched(value: unknown, changes: readonly Change[]): unknown {
  const root: unknown = structuredClone(value);
  for (const { path, op, after } of changes) {
    const key = path.at(-1) ?? "";
    const parent = path.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), root);
    if (Array.isArray(parent))
      parent.splice(Number(key), op === "delete" ? 1 : 0, ...(op === "delete" ? [] : [after]));
    else if (op === "delete") Reflect.deleteProperty(Object(parent), key);
    else Reflect.set(Object(parent), key, after);
  }
  return root;
}

/** Each client writes letters of its own. */
const signed = (edits: readonly Edit[]): Edit[] =>
  edits.map((edit) =>
    edit.kind === "insert" ? { ...edit, text: "xyz".charAt(edit.client).repeat(edit.text.length) } : edit,
  );

it("shows what leads from one point to the other, and whose change it is (D23)", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 30 }), fc.nat({ max: 30 }), (edits, end) => {
      const all = updatesOf(signed(edits));
      const before = all.slice(0, end).map(({ update }) => update);
      const since = all.slice(end).map(({ client, update }) => authored(update, client));
      const [was, is] = [built(before), built(all.map(({ update }) => update))];
      const text = compareType(before, since, "text", "text");
      const shown = is.getText("text").toString();
      if (text.length === 0) expect(was.getText("text").toString()).toBe(shown);
      else
        expect([textOf(text, "insert"), textOf(text, "delete")]).toEqual([
          was.getText("text").toString(),
          shown,
        ]);
      for (const { op, text: letters, authors } of text[0]?.segments ?? [])
        if (op === "insert")
          expect([...letters].map((letter) => by("xyz".indexOf(letter)))).toEqual(
            [...letters].map(() => authors[0]),
          );
      const map = compareType(before, since, "map", "map");
      expect(patched(was.getMap("map").toJSON(), map)).toEqual(is.getMap("map").toJSON());
      const list = compareType(before, since, "array", "list");
      expect(patched(was.getArray("list").toJSON(), list)).toEqual(is.getArray("list").toJSON());
    }),
    { numRuns: 100 },
  );
});

it("shows XML with its tags and attributes (D23)", () => {
  const { doc, before, compare } = changing(
    (doc) => {
      const [first, second] = [new Y.XmlElement("paragraph"), new Y.XmlElement("heading")];
      first.insert(0, [new Y.XmlText("Hello")]);
      second.setAttribute("level", "1");
      doc.getXmlFragment("root").insert(0, [first, second]);
    },
    (doc) => {
      const [first, second] = doc.getXmlFragment("root").toArray();
      if (!(first instanceof Y.XmlElement) || !(second instanceof Y.XmlElement))
        throw new Error("It is other XML");
      const text = first.firstChild;
      if (text instanceof Y.XmlText) text.insert(5, " world");
      second.setAttribute("level", "2");
      doc.getXmlFragment("root").insert(2, [new Y.XmlElement("rule")]);
    },
  );
  const changes = compare("xml");
  expect(segmentsOf(changes)).toEqual([
    ["keep", "<paragraph>"],
    ["keep", "Hello"],
    ["insert", " world"],
    ["keep", "</paragraph>"],
    ["delete", '<heading level="1">'],
    ["insert", '<heading level="2">'],
    ["keep", "</heading>"],
    ["insert", "<rule>"],
    ["insert", "</rule>"],
  ]);
  expect(textOf(changes, "delete")).toBe(doc.getXmlFragment("root").toString());
  expect(textOf(changes, "insert")).toBe(built([before]).getXmlFragment("root").toString());
  const authors = changes
    .flatMap(({ segments }) => segments ?? [])
    .map(({ op, authors }) => [op, authors.length]);
  expect(authors.every(([op, count]) => count === (op === "keep" ? 0 : 1))).toBe(true);
});

it("shows another formatting, embedded values, and texts within maps (D23)", () => {
  const formatted = changing(
    (doc) => doc.getText("root").insert(0, "one two"),
    (doc) => {
      doc.getText("root").format(4, 3, { bold: true });
      doc.getText("root").insertEmbed(3, { image: 1 });
    },
  ).compare("text");
  expect(segmentsOf(formatted)).toEqual([
    ["keep", "one"],
    ["insert", '{"image":1}'],
    ["keep", " "],
    ["format", "two"],
  ]);
  const nested = changing(
    (doc) => doc.getMap("root").set("cards", new Y.Map([["title", new Y.Text("Old")]])),
    (doc) => {
      const cards = doc.getMap("root").get("cards");
      const title = cards instanceof Y.Map ? cards.get("title") : null;
      if (title instanceof Y.Text) title.insert(3, "er");
      doc.getMap("root").set("count", 2n);
    },
  ).compare("map");
  expect(nested).toMatchObject([
    { path: ["cards", "title"], op: "edit", segments: [{ text: "Old" }, { text: "er", authors: [by(0)] }] },
    { path: ["count"], op: "insert", before: null, after: "2", authors: [by(0)], segments: null },
  ]);
});

it("shows what was deleted and written again as kept (D21, D23)", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 20 }), fc.nat({ max: 20 }), (edits, end) => {
      const updates = updatesOf(edits).map(({ update }) => update);
      const before = updates.slice(0, end);
      const merge = (some: readonly Uint8Array[]) => Y.mergeUpdates([new Uint8Array([0, 0]), ...some]);
      const back = revertingUpdate(merge(before), merge(updates));
      const since = [...updates.slice(end), ...(back === null ? [] : [back])].map((update) =>
        authored(update),
      );
      const changes = compareType(before, since, "text", "text");
      expect(segmentsOf(changes).filter(([op]) => op === "insert" || op === "delete")).toEqual([]);
    }),
    { numRuns: 30 },
  );
  const whole = changing(
    (doc) => doc.getText("root").insert(0, "a 👍 b"),
    (doc) => {
      doc.getText("root").delete(0, 6);
      doc.getText("root").insert(0, "a 👎 b");
    },
  ).compare("text");
  expect(segmentsOf(whole)).toEqual([
    ["keep", "a "],
    ["delete", "👍"],
    ["insert", "👎"],
    ["keep", " b"],
  ]);
});

it("is refused for documents that are large or nested too deeply, and for too many differences (D23)", () => {
  const { before, since, compare } = changing(
    () => undefined,
    (doc) => doc.getText("root").insert(0, "x".repeat(2_100_000)),
  );
  expect(() => compare("text")).toThrow("compared, restored nor rolled back");
  expect(compareType([before, ...since.map(({ data }) => data)].slice(0, 1), [], "text", "root")).toEqual([]);
  const deep = changing(
    () => undefined,
    (doc) => {
      let at = doc.getMap("root");
      for (let depth = 0; depth < 300; depth += 1) at = at.set("in", new Y.Map());
    },
  );
  expect(() => deep.compare("map")).toThrow("nested more than 200 levels deep");
  const long = "k".repeat(1_000);
  const many = changing(
    (doc) => doc.getMap("root").set(long, new Y.Array()),
    (doc) => {
      const list = doc.getMap("root").get(long);
      if (list instanceof Y.Array) list.push(Array.from({ length: 10_000 }, (_, index) => index));
    },
  );
  expect(() => many.compare("map")).toThrow("differ in too much");
});
