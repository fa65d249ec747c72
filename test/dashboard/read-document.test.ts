/** What the dashboard reads of documents, whatever editor they are of. */
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { jsonOf, textOf } from "../../src/dashboard/page/documents/document-root.ts";
import { readUpdate } from "../../src/dashboard/page/documents/read-document.ts";

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
