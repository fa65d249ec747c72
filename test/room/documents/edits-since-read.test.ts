/** Edits of programs whose document has changed since they have read it, and what their refusals say. */
import { EDIT_LIMITS, type Edit } from "@atrium/contract/rest/document-edits.ts";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { changedBlocks } from "../../../src/room/documents/edits/changed-blocks.ts";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
import {
  change,
  line,
  PROGRAM,
  placeOf,
  quote,
  stateOf,
  TEXT,
  typed,
  typing,
  typingBy,
  update,
  written,
  XML,
} from "./edited-documents.ts";
import { by } from "./yjs-edits.ts";

const ADA = by("ada");

describe("a stretch that a program has read", () => {
  it("is not written over when someone has deleted in it since, which would bring a secret back", () => {
    const at = typed("Fee 10 USD, secret code 1234.");
    const place = placeOf(at, TEXT, "Fee 10 USD, secret code 1234.");
    const base = stateOf(at);
    const edits: Edit[] = [{ at: place, replace: "Fee 12 USD, secret code 1234." }];
    const since = typingBy(ADA, at, () => at.type.delete(10, 18));
    expect(() => change(at, TEXT, edits, base, since)).toThrow(
      "edits[0]: the stretch was changed meanwhile; there stands “Fee 10 USD.”",
    );
    expect(at.type.toString()).toBe("Fee 10 USD.");
    const end = typed("one two");
    const atEnd = placeOf(end, TEXT, "one two");
    const before = stateOf(end);
    const deleted = typingBy(ADA, end, () => end.type.delete(6, 1));
    expect(() => change(end, TEXT, [{ at: atEnd, replace: "x" }], before, deleted)).toThrow(
      "changed meanwhile",
    );
  });

  it("is written over when someone deletes or writes beside it, not in it, even if that came and went", () => {
    const at = typed("one\ntwo\nthree");
    const place = placeOf(at, TEXT, "two");
    const base = stateOf(at);
    const since = typingBy(ADA, at, () => {
      at.type.delete(0, 3);
      at.type.insert(at.type.length, "!");
    });
    change(at, TEXT, [{ at: place, replace: "2" }], base, since);
    expect(at.type.toString()).toBe("\n2\nthree!");
    const other = typed("one");
    const read = stateOf(other);
    const passing = typingBy(ADA, other, () => {
      other.type.insert(1, "secret");
      other.type.delete(1, 6);
    });
    const stretch = placeOf(other, TEXT, "one");
    expect(() => change(other, TEXT, [{ at: stretch, replace: "1" }], read, passing)).toThrow(
      "changed meanwhile",
    );
  });

  it("is refused when nothing of it is left, with or without the updates since", () => {
    const at = typed("one\ntwo\nthree");
    const place = placeOf(at, TEXT, "two");
    const base = stateOf(at);
    const since = typingBy(ADA, at, () => at.type.delete(3, 4));
    expect(() => change(at, TEXT, [{ at: place, replace: "TWO" }], base, since)).toThrow("changed meanwhile");
    for (const edit of [{ replace: "TWO" }, { delete: true }, { format: { bold: true } }] as const)
      expect(() => change(at, TEXT, [{ at: place, ...edit }], base)).toThrow(
        "edits[0]: the stretch was deleted; at its place stands “one\nthree”",
      );
  });

  it("may be edited again after an edit of the same author, which is no change of others", () => {
    const at = written(line("one two"), line("three"));
    const [place, base] = [placeOf(at, XML, "one two"), stateOf(at)];
    const own = typingBy(PROGRAM, at, () => change(at, XML, [{ at: quote("one"), replace: "1" }]));
    expect(changedBlocks(update(at), XML, base, own, PROGRAM)).toEqual([]);
    expect(() => change(at, XML, [{ at: place, replace: "x" }], base)).toThrow("changed meanwhile");
    change(at, XML, [{ at: place, replace: "1 two!" }], base, own);
    expect(at.type.toString()).toBe("<paragraph>1 two!</paragraph><paragraph>three</paragraph>");
    const text = (at.type.get(0) as Y.XmlElement).get(0) as Y.XmlText;
    const others = typingBy(ADA, at, () => text.delete(0, 1));
    expect(() => change(at, XML, [{ at: place, replace: "x" }], base, [...own, ...others])).toThrow(
      "changed meanwhile; there stands “ two!”",
    );
    const folded = [{ seq: 1, authors: [PROGRAM, ADA], data: update(at) }];
    expect(() => change(at, XML, [{ at: place, replace: "x" }], base, folded)).toThrow("changed meanwhile");
    expect(changedBlocks(update(at), XML, base, folded, PROGRAM)[0]?.authors).toEqual([ADA]);
  });
});

it("a text that is begun in an empty element is overtaken by one that someone else begins there", () => {
  const at = written(line("one"), line(""));
  const paragraph = at.type.get(1) as Y.XmlElement;
  const insert: Edit = { at: "end", insert: "x" };
  const elsewhere = () => {
    paragraph.setAttribute("align", "left");
    at.type.insert(2, [new Y.XmlElement("paragraph")]);
    ((at.type.get(0) as Y.XmlElement).get(0) as Y.XmlText).insert(3, "!");
  };
  const begun = () => paragraph.insert(0, [new Y.XmlText("ada")]);
  for (const block of [{}, { block: { name: "paragraph" } }]) {
    const copy = { doc: new Y.Doc() };
    Y.applyUpdate(copy.doc, update(at));
    const { guard } = change(copy, XML, [{ ...insert, ...block }]);
    const [beside, within] = [elsewhere, begun].map((type) => typing(at, type));
    expect([beside, within].map((later) => isOvertaken(guard, later ?? []))).toEqual([false, true]);
    // What is deleted of a text stays in its element, and is the neighbor of the next one.
    typing(at, () => paragraph.delete(0, 1));
    at.type.delete(2, 1);
  }
});

it("a word is replaced whole: no letters of an old one are left in a new one", () => {
  const replaced = (old: string, text: string) => {
    const at = typed(old);
    const { update: made } = change(at, TEXT, [{ at: quote(old), replace: text }]);
    expect(at.type.toString()).toBe(text);
    const { deleted } = scanUpdate(made ?? new Uint8Array([0, 0]));
    return deleted.map(({ start, end }) => old.slice(start, end)).join("");
  };
  expect(replaced("go here now", "go there now")).toBe("here");
  expect(replaced("it is 1,250 km", "it is 1,350 km")).toBe("250");
  expect(replaced("Überzug über", "Überzüge über")).toBe("Überzug");
  expect(replaced("cafe\u0301 a", "cafe\u0300 a")).toBe("cafe\u0301");
  expect(replaced("我们今天去", "我们明天去")).toBe("今");
  expect(replaced("a👍🏽b", "a👍🏿b")).toBe("👍🏽");
  expect(replaced("𝒜𝒷 c", "𝒜𝒹 c")).toBe("𝒜𝒷");
  expect(replaced("one", "one more")).toBe("");
});

it("a root of the other type is refused by its name, before a text gets among elements", () => {
  const at = written(line("one"));
  const xml = 'this root holds XML: send `type: "xml"`';
  for (const edit of [
    { at: "end", insert: "x" },
    { at: quote("one"), delete: true },
  ] as const)
    expect(() => change(at, TEXT, [edit])).toThrow(xml);
  expect(() => placeOf(at, TEXT, "one")).toThrow(xml);
  const text = 'this root holds a text: send `type: "text"`';
  expect(() => change(typed("one"), XML, [{ at: quote("one"), delete: true }])).toThrow(text);
  expect(() => placeOf(typed("one"), XML, "one")).toThrow(text);
});

it("refusals show the text nearest to where the place was", () => {
  const at = written(line("one"), line("two"), { type: "blockquote", content: [line("three")] });
  const [two, three] = ["two", "three"].map((text) => ({ anchor: placeOf(at, XML, text).anchor }));
  at.doc.gc = false;
  at.type.delete(1, 2);
  for (const place of [two, three])
    expect(() => change(at, XML, [{ at: place ?? "end", insert: "x" }])).toThrow(
      "edits[0]: the block of the anchor was deleted; beside its place stands “one”",
    );
  const many = typed(`a-${"x".repeat(300)}-a`);
  expect(() => change(many, TEXT, [{ at: quote("a"), delete: true }])).toThrow(
    `the quotation stands 2 times, first in “a-${"x".repeat(EDIT_LIMITS.shownText - 2)}”`,
  );
  const short = written(line("so be"), line(""), line("it"));
  expect(() => change(short, XML, [{ at: quote("me"), delete: true }])).toThrow(
    "the quotation is not in the document any more; there stands “so be\nit”",
  );
});

describe("new blocks at the end", () => {
  const block = { name: "paragraph" };

  it("begin in the empty paragraph that the editor keeps there", () => {
    const at = written(line("one"), line(""));
    const begun = change(at, XML, [{ at: "end", insert: "two\n\nthree", block }]);
    const place = { anchor: bytesToBase64(begun.edits[0]?.end ?? new Uint8Array()) };
    change(at, XML, [{ at: place, insert: "!" }]);
    expect(at.type.toString()).toBe(
      "<paragraph>one</paragraph><paragraph>two</paragraph><paragraph>three!</paragraph>",
    );
    const list = written(line(""));
    change(list, XML, [
      { at: "end", insert: "A", block: { name: "paragraph", attributes: { align: "left" } } },
      { at: "end", insert: "B", format: { bold: {} } },
      { at: "end", insert: "C", block },
      { at: "end", insert: "D", block: { name: "heading" } },
    ]);
    expect(list.type.toString()).toBe(
      '<paragraph align="left">A<bold>B</bold></paragraph><paragraph>C</paragraph><heading>D</heading>',
    );
    const group = { doc: new Y.Doc() };
    const [outer, container] = [new Y.XmlElement("blockGroup"), new Y.XmlElement("blockContainer")];
    container.insert(0, [new Y.XmlElement("paragraph")]);
    outer.insert(0, [container]);
    group.doc.getXmlFragment("root").insert(0, [outer]);
    change(group, XML, [{ at: "end", insert: "x", block }]);
    expect(outer.toString()).toBe(
      "<blockgroup><blockcontainer><paragraph>x</paragraph></blockcontainer></blockgroup>",
    );
  });

  it("are bounded with all that they repeat, before anything is built", () => {
    const at = written(line("one"));
    const paragraphs = (count: number) => "a\n\n".repeat(count);
    const long = { name: "paragraph", attributes: { long: "x".repeat(4_000) } };
    change(at, XML, [{ at: "end", insert: paragraphs(1_000), block }]);
    const many = (count: number): Edit => ({ at: "end", insert: paragraphs(count), block });
    expect(() => change(at, XML, [many(600), many(401)])).toThrow(
      "edits[1]: a list of edits makes at most 1000 new blocks; send several lists",
    );
    const tooLarge = "the new blocks repeat too many elements and attributes; send fewer blocks at once";
    const format = { link: "x".repeat(4_000) };
    expect(() => change(at, XML, [{ ...many(999), block: { ...long, name: "x" }, format }])).toThrow(
      tooLarge,
    );
    let [outer, inner] = [new Y.XmlElement("box"), new Y.XmlElement("paragraph")];
    inner.insert(0, [new Y.XmlText("deep")]);
    for (let depth = 0; depth < 100; depth += 1) {
      outer = new Y.XmlElement("box");
      outer.insert(0, [inner]);
      inner = outer;
    }
    outer.setAttribute("long", "x".repeat(20_000));
    at.type.insert(0, [outer]);
    at.type.insert(0, [new Y.XmlElement("box")]);
    change(at, XML, [{ at: quote("deep"), insert: "x", block: { name: "box" } }]);
    expect(() =>
      change(at, XML, [{ at: quote("deep"), insert: paragraphs(900), block: { name: "box" } }]),
    ).toThrow(tooLarge);
  });

  it("take the formats that an editor knows, and none in code", () => {
    const at = written(line("one"));
    const formatted = (edit: object) => () => change(at, XML, [{ at: quote("one"), ...edit } as Edit]);
    for (const edit of [{ format: { strong: {} } }, { insert: "x", format: { strong: {} } }])
      expect(formatted(edit)).toThrow("the document has no format “strong”");
    const code = { name: "codeBlock" };
    expect(formatted({ insert: "x", format: { bold: {} }, block: code })).toThrow("takes no formats");
    formatted({ format: { bold: {} } })();
    formatted({ format: { strong: null } })();
    ((at.type.get(0) as Y.XmlElement).get(0) as Y.XmlText).format(0, 1, { own: { a: 1 } });
    formatted({ insert: "x", format: { own: { a: 2 } } })();
    expect(at.type.toString()).toContain('<own a="2">x</own>');
  });
});
