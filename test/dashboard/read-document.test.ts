/** The dashboard's reading of documents of any editor. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { jsonOf, sortDocuments, textOf } from "../../packages/dashboard/documents/document.ts";
import { readUpdate } from "../../packages/dashboard/documents/read-document.ts";
import { previewOf } from "../../packages/dashboard/ui/json-preview.ts";
import { type DiffLine, diffLines } from "../../packages/dashboard/ui/line-diff.ts";

function read(write: (doc: Y.Doc) => void) {
  const doc = new Y.Doc();
  doc.transact(() => write(doc));
  return readUpdate(Y.encodeStateAsUpdate(doc));
}

/** A document as Tiptap writes it: blocks of XML, with formats. */
function writeBlocks(doc: Y.Doc): void {
  const heading = new Y.XmlElement("heading");
  heading.setAttribute("level", "2");
  heading.insert(0, [new Y.XmlText("Agenda")]);
  const [item, list] = [new Y.XmlElement("listItem"), new Y.XmlElement("bulletList")];
  const paragraph = new Y.XmlElement("paragraph");
  const text = new Y.XmlText();
  text.insert(0, "Bring tea");
  text.format(6, 3, { bold: {} });
  paragraph.insert(0, [text]);
  item.insert(0, [paragraph]);
  list.insert(0, [item]);
  doc.getXmlFragment("default").insert(0, [heading, list, new Y.XmlElement("paragraph")]);
}

describe("a document's shared types", () => {
  it("are recognized by what is in them", () => {
    const roots = read((doc) => {
      doc.getText("text").insert(0, "Hello");
      doc.getMap("map").set("a", { b: [1] });
      doc.getArray("array").insert(0, [1, null, "x"]);
      writeBlocks(doc);
    });
    expect(roots.map(({ name, kind }) => [name, kind])).toEqual([
      ["array", "array"],
      ["default", "xml"],
      ["map", "map"],
      ["text", "text"],
    ]);
    expect(jsonOf(roots)).toEqual({
      array: [1, null, "x"],
      default: [
        { heading: ["Agenda"], attributes: { level: "2" } },
        {
          bulletList: [
            {
              listItem: [
                {
                  paragraph: [[{ insert: "Bring " }, { insert: "tea", attributes: { bold: {} } }]],
                },
              ],
            },
          ],
        },
        { paragraph: [] },
      ],
      map: { a: { b: [1] } },
      text: "Hello",
    });
    expect(textOf(roots)).toBe("Agenda\nBring tea\n\n\nHello");
  });

  it("hold other shared types, subdocuments and bytes", () => {
    const roots = read((doc) => {
      const map = doc.getMap("root");
      map.set("list", Y.Array.from([new Y.Text("inner")]));
      map.set("picture", new Uint8Array(3));
      map.set("page", new Y.Doc({ guid: "one" }));
    });
    expect(jsonOf(roots)).toEqual({
      root: { list: ["inner"], picture: "3 bytes", page: { document: "one" } },
    });
  });

  it("of Lexical, which nests text in text, are read as well", () => {
    const roots = read((doc) => {
      for (const [index, line] of ["Hello", "world"].entries()) {
        const paragraph = new Y.XmlText();
        paragraph.setAttribute("__type", "paragraph");
        paragraph.insertEmbed(0, new Y.Map([["__type", "text"]]));
        paragraph.insert(1, line);
        doc.get("root", Y.XmlText).insertEmbed(index, paragraph);
      }
    });
    expect(textOf(roots)).toBe("Hello\nworld");
    expect(jsonOf(roots)).toEqual({
      root: [
        {
          text: [{ insert: { __type: "text" } }, { insert: "Hello" }],
          attributes: { __type: "paragraph" },
        },
        {
          text: [{ insert: { __type: "text" } }, { insert: "world" }],
          attributes: { __type: "paragraph" },
        },
      ],
    });
  });

  it("of a document that has become empty are empty, and of one without content none", () => {
    expect(
      read((doc) => {
        doc.getText("text").insert(0, "gone");
        doc.getText("text").delete(0, 4);
      }),
    ).toEqual([{ name: "text", kind: "text", text: "", json: "" }]);
    expect(readUpdate(Y.encodeStateAsUpdate(new Y.Doc()))).toEqual([]);
  });

  it("may be nested deeper than anyone can read", () => {
    const roots = read((doc) => {
      let map = doc.getMap("root");
      for (let depth = 0; depth < 5_000; depth += 1) {
        const inner = new Y.Map();
        map.set("in", inner);
        map = inner;
      }
    });
    expect(JSON.stringify(jsonOf(roots))).toMatch(/^(\{"root":)?(\{"in":)+"…"\}+$/);
  });
});

// JSON in one short line.

describe("the preview of a JSON value", () => {
  it.each([
    [{ title: "Buy milk", for: ["Bo"] }, '{"title":"Buy milk","for":["Bo"]}'],
    ["x".repeat(100), `"${"x".repeat(40)}…"`],
    [[], "[]"],
    [null, "null"],
    [undefined, "null"],
  ])("of %j is %s", (value, preview) => {
    expect(previewOf(value)).toBe(preview);
  });

  it("is the whole of a small value, and short for any other", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const [whole, preview] = [JSON.stringify(value), previewOf(value)];
        if (whole.length <= 40) expect(preview).toBe(whole);
        expect(preview.length).toBeLessThan(1_000);
      }),
    );
  });

  it("looks only at what it shows", () => {
    const huge = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key ${index}`, index]));
    expect(previewOf(huge)).toMatch(/^\{"key 0":0,.+,…\}$/);
    let looks = 0;
    const watched = new Proxy(huge, {
      get: (target, key) => {
        looks += 1;
        return Reflect.get(target, key);
      },
    });
    previewOf(watched);
    expect(looks).toBeLessThan(20);
  });
});

// The order of a room's documents.

const document = (name: string, bytes: number) => ({
  ...{ name, bytes, seq: 1, participants: 0, participant_ids: [] },
  ...{ created_at: "2026-01-31T09:45:00.000Z", updated_at: "2026-01-31T09:45:00.000Z" },
});
const DOCUMENTS = [document("b", 10), document("a", 9), document("c", 100)];
const namesBy = (sort: string): string =>
  sortDocuments(DOCUMENTS, sort)
    .map(({ name }) => name)
    .join("");

it("is by any of the fields, up or down, and their own order for none", () => {
  expect(namesBy("name")).toBe("abc");
  expect(namesBy("-bytes")).toBe("cba");
  expect([namesBy(""), namesBy("-unknown")]).toEqual(["bac", "bac"]);
});

// Differences of lines: both texts can be read from them, and they are as few as possible.

const shown = (before: string, after: string): string =>
  diffLines(before, after)
    .map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`)
    .join("|");

describe("the difference of two texts", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", " a| b| c"],
    ["a\nb\nc", "a\nx\nc", " a|-b|+x| c"],
    ["a\nb", "b\na", "-a| b|+a"],
    ["", "a", "+a"],
    ["a\na", "a", " a|-a"],
  ])("lists lines: %j, %j", (before, after, expected) => {
    expect(shown(before, after)).toBe(expected);
  });

  it("holds both texts, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "", "c"), { minLength: 1, maxLength: 12 });
    const without = (lines: readonly DiffLine[], left: DiffLine["kind"]) =>
      lines.filter(({ kind }) => kind !== left).map((line) => line.text);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before.join("\n"), after.join("\n"));
        const kept = [without(lines, "added"), without(lines, "removed")];
        expect(kept.map((one) => one.join("\n"))).toEqual([before.join("\n"), after.join("\n")]);
      }),
    );
  });

  it("replaces everything in texts that differ in too many lines", () => {
    const long = (name: string) => ["first", ...Array.from({ length: 3_000 }, (_, i) => name + i), "last"];
    const lines = diffLines(long("a").join("\n"), long("b").join("\n"));
    const texts = (kind: DiffLine["kind"]) =>
      lines.filter((line) => line.kind === kind).map(({ text }) => text);
    expect([texts("removed"), texts("added")]).toEqual([long("a"), long("b")]);
  });
});
