/** Edits of programs in documents that people type into: places, refusals, formats and the forms of editors. */
import { AppError } from "@atrium/contract/errors.ts";
import { EDIT_LIMITS, type Edit, type EditedRoot, type Place } from "@atrium/contract/rest/document-edits.ts";
import { yXmlFragmentToProseMirrorRootNode } from "@tiptap/y-tiptap";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { applyEdits } from "../../../src/room/documents/edits/apply-edits.ts";
import { readBlocks } from "../../../src/room/documents/edits/blocks.ts";
import { changedBlocks } from "../../../src/room/documents/edits/changed-blocks.ts";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
import { rollbackUpdate } from "../../../src/room/documents/history/rollback.ts";
import { isServerClient } from "../../../src/room/documents/updates/built-document.ts";
import { scanUpdate } from "../../../src/room/documents/updates/update-reader.ts";
import {
  change,
  line,
  PROGRAM,
  placeOf,
  quote,
  schema,
  TEXT,
  typed,
  typing,
  update,
  written,
  XML,
} from "./edited-documents.ts";
import { by, edit, updatesOf } from "./yjs-edits.ts";

describe("a program that writes into a text", () => {
  it("deletes nothing that is typed meanwhile, where a write of the whole text would", () => {
    const at = typed("The quick brown fox");
    const { state } = readBlocks(update(at), TEXT, { after: null, limit: 1 });
    const applied = applyEdits(
      update(at),
      TEXT,
      [{ at: quote("quick brown"), replace: "quick red" }],
      { state, since: [] },
      PROGRAM,
    );
    at.type.insert(3, " very");
    at.type.insert(at.type.length, " jumps");
    if (applied.update !== null) Y.applyUpdate(at.doc, applied.update);
    expect(at.type.toString()).toBe("The very quick red fox jumps");
    const { deleted } = scanUpdate(applied.update ?? new Uint8Array([0, 0]));
    expect(deleted.reduce((sum, { start, end }) => sum + end - start, 0)).toBe("brown".length);
  });

  it("learns of typing in what it replaces: before its edit by the guard, since it has read by the base", () => {
    const at = typed("one two three");
    const { state } = readBlocks(update(at), TEXT, { after: null, limit: 1 });
    const whole = placeOf(at, TEXT, "one two three");
    const { guard } = applyEdits(
      update(at),
      TEXT,
      [{ at: whole, replace: "four" }],
      { state, since: [] },
      PROGRAM,
    );
    const beside = typing(at, () => at.type.insert(0, "zero "));
    const within = typing(at, () => at.type.insert(at.type.length - 3, "!"));
    const deletion = typing(at, () => at.type.delete(at.type.length - 1, 1));
    expect([beside, within, deletion].map((later) => isOvertaken(guard, later))).toEqual([false, true, true]);
    const again = () => change(at, TEXT, [{ at: whole, replace: "four" }], state);
    expect(again).toThrow("edits[0]: the stretch was changed meanwhile; there stands “zero one two th!re”");
    expect(change(at, TEXT, [{ at: { anchor: whole.anchor }, insert: "<" }], state).edits).toMatchObject([
      { text: "zero <one two th!re" },
    ]);
  });

  it("never has success for a text that does not appear, because its block was deleted", () => {
    const at = written(line("first"), line("second"));
    const end = placeOf(at, XML, "second").end;
    const place = { at: { anchor: end }, insert: " more" };
    const { guard } = applyEdits(update(at), XML, [place], null, PROGRAM);
    const other = typing(at, () => at.type.delete(0, 1));
    expect(isOvertaken(guard, other)).toBe(false);
    expect(
      isOvertaken(
        guard,
        typing(at, () => at.type.delete(0, 1)),
      ),
    ).toBe(true);
    expect(() => change(at, XML, [place])).toThrow("edits[0]: the block of the anchor was deleted");
  });

  it("doubles no heading by an edit that it sends again", () => {
    const at = typed("Plan\nPlan\nsteps");
    const edits: Edit[] = [
      { at: { quote: "Plan", before: "", after: "\nsteps", side: "before" }, insert: "Our " },
    ];
    change(at, TEXT, edits);
    expect(at.type.toString()).toBe("Plan\nOur Plan\nsteps");
    expect(() => change(at, TEXT, [{ at: quote("Plan"), replace: "Goals" }])).toThrow(
      "edits[0]: the quotation stands 2 times, first in “Plan\nOur Plan\nsteps”; add the text before or after it",
    );
    change(at, TEXT, [{ at: quote("Our Plan\nsteps"), replace: "Our Goals\nsteps" }]);
    expect(() => change(at, TEXT, [{ at: quote("Our Plan\nsteps"), replace: "Our Goals\nsteps" }])).toThrow(
      "edits[0]: the quotation is not in the document any more; near its place stands “Plan\nOur Goals\nsteps”",
    );
  });

  it("writes into the paragraph that it has read, wherever that is now", () => {
    const at = written(line("one"), line("two"), line("three"));
    const anchors = placeOf(at, XML, "two");
    at.type.insert(0, [new Y.XmlElement("paragraph"), new Y.XmlElement("paragraph")]);
    const { edits } = change(at, XML, [{ at: { anchor: anchors.end }, insert: "!" }]);
    expect(edits).toMatchObject([{ text: "two!" }]);
    expect(at.type.toString()).toMatch(/<paragraph>one<\/paragraph><paragraph>two!<\/paragraph>/);
  });

  it("is refused as a whole, with what to do, for a place that is none", () => {
    const at = typed("one two 😀 three");
    const { anchor, end } = placeOf(at, TEXT, "one two 😀 three");
    const other = typed("elsewhere");
    const unknown = placeOf(other, TEXT, "elsewhere").anchor;
    const refusal = (...edits: Edit[]): string => {
      const before = update(at);
      let message = "";
      try {
        applyEdits(before, TEXT, edits, null, PROGRAM);
      } catch (error) {
        message = error instanceof Error && "code" in error ? `${error.code} ${error.message}` : `${error}`;
      }
      return message;
    };
    const insert = (place: Place): Edit => ({ at: place, insert: "x" });
    expect([
      refusal(insert("end"), insert({ anchor: bytesToBase64(new Uint8Array([9, 9])) })),
      refusal(insert({ anchor: unknown })),
      refusal({ at: { anchor: end, end: anchor }, format: { bold: true } }),
      refusal({ at: { anchor }, delete: true }),
      refusal({ at: { anchor, end }, delete: true }),
      refusal({ at: { anchor, end }, replace: "x" }),
      refusal({ at: "end", replace: "x" }),
      refusal({ at: quote("one two"), delete: true }, { at: quote("two"), format: { bold: true } }),
      refusal({ at: quote("one two"), replace: "x" }, insert(quote("one"))),
      refusal({ at: "end", insert: "x", block: { name: "paragraph" } }),
      refusal(insert(quote("one  two"))),
      refusal(insert(quote("nothing of that"))),
    ]).toEqual([
      "BAD_REQUEST edits[1]: the anchor is no relative position of Yjs",
      "CONFLICT edits[0]: the anchor is not known to the document; read it again",
      "BAD_REQUEST edits[0]: the end must stand in the same text as the anchor, and not before it",
      "BAD_REQUEST edits[0]: the edit needs a stretch: a quotation, or an anchor with its end",
      "BAD_REQUEST edits[0]: send the `base` of the blocks that you have read, so that nothing newer is written over",
      "BAD_REQUEST edits[0]: send the `base` of the blocks that you have read, so that nothing newer is written over",
      "BAD_REQUEST edits[0]: the edit needs a stretch: a quotation, or an anchor with its end",
      "BAD_REQUEST edits[1]: its place overlaps with that of edits[0]",
      "BAD_REQUEST edits[1]: its place overlaps with that of edits[0]",
      "BAD_REQUEST edits[0]: only XML has blocks; insert without `block`",
      "CONFLICT edits[0]: the quotation is not in the document any more; near its place stands “one two 😀 three”",
      "CONFLICT edits[0]: the quotation is not in the document any more; there stands “one two 😀 three”",
    ]);
    expect(() => change(at, TEXT, [], new Uint8Array([5]))).toThrow("base: it is no state vector");
    const huge = typed("x".repeat(2_100_000));
    expect(() => change(huge, TEXT, [{ at: "end", insert: "x" }])).toThrow("neither shown, edited");
  });

  it("keeps formats: an insertion has those around, a replacement those of what it replaces", () => {
    const at = typed("one two three");
    at.type.format(4, 3, { bold: true });
    change(at, TEXT, [
      { at: quote("two"), replace: "2" },
      { at: quote("three"), delete: true },
      { at: "end", insert: "3" },
      { at: quote("one"), format: { italic: true } },
      { at: quote("two", "after"), insert: "!" },
      { at: "start", insert: "0 ", format: { code: true } },
    ]);
    expect(at.type.toDelta()).toEqual([
      { insert: "0 ", attributes: { code: true } },
      { insert: "one", attributes: { italic: true } },
      { insert: " " },
      { insert: "2!", attributes: { bold: true } },
      { insert: " 3" },
    ]);
    expect(change(at, TEXT, [{ at: quote("one"), replace: "one" }]).update).toBeNull();
    const pairs = typed("a😀b");
    expect(change(pairs, TEXT, [{ at: quote("😀"), replace: "😁" }]).edits).toMatchObject([{ text: "a😁b" }]);
    expect(pairs.type.toString()).toBe("a😁b");
  });

  it("is an author like others: its edits are rolled back, and what was typed since stays", () => {
    const at = typed("one two three");
    const before = update(at);
    const { update: edited } = change(at, TEXT, [
      { at: quote("two"), replace: "2" },
      { at: "end", insert: " four" },
    ]);
    const [since] = typing(at, () => at.type.insert(5, "!"));
    if (edited === null || since === undefined) throw new Error("Nothing was written");
    expect(scanUpdate(edited).inserted.some(({ client }) => isServerClient(client))).toBe(false);
    const [program, person] = [by("program"), by("ada")];
    const parts = [
      { seq: 1, authors: [program], data: edited },
      { seq: 2, authors: [person], data: since },
    ];
    const back = rollbackUpdate([before], parts, { author: program, upTo: 2 });
    if (back === null) throw new Error("There is nothing to take back");
    Y.applyUpdate(at.doc, back);
    expect(at.type.toString()).toMatch(/^one (!two|two!) three$/);
  });
});

it("the anchors of a line hold exactly its characters, whatever was edited", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 30 }), (edits) => {
      const doc = new Y.Doc();
      for (const { update } of updatesOf(edits)) Y.applyUpdate(doc, update);
      const root: EditedRoot = { root: "text", type: "text" };
      const text = doc.getText("text");
      text.insert(Math.floor(text.length / 2), "\n\n");
      const whole = text.toString();
      const lines: string[] = [];
      for (let after: Uint8Array | null = null, hasMore = true; hasMore; ) {
        const page = readBlocks(Y.encodeStateAsUpdate(doc), root, { after, limit: 2 });
        for (const { anchor, end, text: shown } of page.blocks) {
          lines.push(shown);
          const at = { anchor: bytesToBase64(anchor), end: bytesToBase64(end) };
          const kept = applyEdits(
            Y.encodeStateAsUpdate(doc),
            root,
            [{ at, replace: shown }],
            { state: page.state, since: [] },
            PROGRAM,
          );
          expect(kept.update).toBeNull();
          const { update } = applyEdits(
            Y.encodeStateAsUpdate(doc),
            root,
            [{ at, delete: true }],
            { state: page.state, since: [] },
            PROGRAM,
          );
          const copy = new Y.Doc();
          Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
          if (update !== null) Y.applyUpdate(copy, update);
          expect(copy.getText("text").length).toBe(whole.length - shown.length);
        }
        after = page.blocks.at(-1)?.end ?? null;
        hasMore = page.hasMore;
      }
      expect(lines.join("\n")).toBe(whole);
    }),
    { numRuns: 60 },
  );
});

it("an anchor of any operation is a place in a text or is refused, and halves no character", () => {
  const at = written(line("a😀b"), {
    type: "bulletList",
    content: [{ type: "listItem", content: [line("c")] }],
  });
  at.type.insert(2, [new Y.XmlElement("horizontalRule"), new Y.XmlElement("paragraph")]);
  at.type.delete(2, 1);
  const clocks = Y.getState(at.doc.store, at.doc.clientID);
  const id = fc.nat({ max: clocks + 1 }).map((clock) => ({ client: at.doc.clientID, clock }));
  const assoc = fc.constantFrom(-1, 0);
  const anchor = fc.oneof(
    fc.record({ item: id, assoc }),
    fc.record({ type: id, assoc }),
    fc.record({ tname: fc.constantFrom("root", "other", "__proto__"), assoc }),
  );
  const bytes = fc.oneof(
    {
      weight: 3,
      arbitrary: anchor.map((json) => Y.encodeRelativePosition(Y.createRelativePositionFromJSON(json))),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  );
  const before = update(at);
  const state = Y.encodeStateVector(at.doc);
  let applied = 0;
  fc.assert(
    fc.property(bytes, bytes, fc.constantFrom("insert", "block", "replace", "format"), (one, other, kind) => {
      const place = { anchor: bytesToBase64(one) };
      const stretch = { ...place, end: bytesToBase64(other) };
      const edit: Edit = {
        insert: { at: place, insert: "x" },
        block: { at: place, insert: "x", block: { name: "paragraph" } },
        replace: { at: stretch, replace: "x" },
        format: { at: stretch, format: { bold: {} } },
      }[kind];
      const copy = new Y.Doc();
      Y.applyUpdate(copy, before);
      try {
        const { update } = applyEdits(before, XML, [edit], { state, since: [] }, PROGRAM);
        if (update !== null) Y.applyUpdate(copy, update);
        applied += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
      const content = copy.getXmlFragment("root");
      yXmlFragmentToProseMirrorRootNode(content, schema).check();
      expect(content.toString()).not.toContain("\uFFFD");
    }),
    { numRuns: 500 },
  );
  expect(applied).toBeGreaterThan(50);
});

it("new blocks have the form of Tiptap's schema wherever they are written, and the editor deletes none", () => {
  const nested = { type: "bulletList", content: [{ type: "listItem", content: [line("nested")] }] };
  const blocks = [
    { type: "heading", attrs: { level: 1 }, content: [{ type: "text", text: "Title" }] },
    line(""),
    {
      type: "bulletList",
      content: [
        { type: "listItem", content: [line("one")] },
        { type: "listItem", content: [line("two"), nested] },
      ],
    },
    { type: "blockquote", content: [line("said")] },
    {
      type: "paragraph",
      content: [{ type: "text", text: "x" }, { type: "hardBreak" }, { type: "text", text: "y" }],
    },
    { type: "horizontalRule" },
    { type: "codeBlock", content: [{ type: "text", text: "code" }] },
  ];
  const quotes = ["Title", "one", "two", "nested", "said", "x", "y", "code"];
  const places: Place[] = ["start", "end", ...quotes.flatMap((text) => [quote(text), quote(text, "before")])];
  for (const at of places)
    for (const name of ["paragraph", "heading", "codeBlock"]) {
      const document = written(...blocks);
      const block = { name, attributes: name === "heading" ? { level: 2 } : {} };
      change(document, XML, [{ at, insert: "NEW\n\nBLOCK", block }]);
      const kept = document.type.toString();
      yXmlFragmentToProseMirrorRootNode(document.type, schema).check();
      expect(document.type.toString()).toBe(kept);
      expect(kept.match(/>(NEW|BLOCK)</g)).toEqual([">NEW<", ">BLOCK<"]);
    }
  const empty = written();
  empty.type.delete(0, empty.type.length);
  const copy = new Y.Doc();
  Y.applyUpdate(copy, update(empty));
  const atStart = ["one", "two"].map(
    (insert): Edit => ({ at: "start", insert, block: { name: "paragraph" } }),
  );
  change({ doc: copy }, XML, atStart);
  expect(copy.getXmlFragment("root").toString()).toBe("<paragraph>one</paragraph><paragraph>two</paragraph>");
  expect(() => change(empty, XML, [{ at: "end", insert: "x" }])).toThrow(
    "edits[0]: the document has no block yet",
  );
  change(empty, XML, [
    { at: "end", insert: "one", block: { name: "paragraph" } },
    { at: "end", insert: "two", block: { name: "paragraph" } },
  ]);
  expect(empty.type.toString()).toBe("<paragraph>one</paragraph><paragraph>two</paragraph>");
  const rule = written({ type: "horizontalRule" }, line(""));
  const intoRule = {
    anchor: bytesToBase64(
      readBlocks(update(rule), XML, { after: null, limit: 1 }).blocks[0]?.anchor ?? new Uint8Array(),
    ),
  };
  expect(() => change(rule, XML, [{ at: intoRule, insert: "x" }])).toThrow(
    "a “horizontalRule” holds no text",
  );
  const overRule = { ...intoRule, end: intoRule.anchor };
  const read = Y.encodeStateVector(rule.doc);
  expect(() => change(rule, XML, [{ at: overRule, replace: "x" }], read)).toThrow(
    "a “horizontalRule” holds no text",
  );
  expect(change(rule, XML, [{ at: overRule, delete: true }], read).update).toBeNull();
  change(rule, XML, [{ at: "end", insert: "into the empty paragraph" }]);
  expect(rule.type.toString()).toBe(
    "<horizontalrule></horizontalrule><paragraph>into the empty paragraph</paragraph>",
  );
});

it("blocks of BlockNote get a container of their own, behind one with nested blocks", () => {
  const doc = new Y.Doc();
  const type = doc.getXmlFragment("root");
  const container = (id: string, ...content: Y.XmlElement[]) => {
    const element = new Y.XmlElement("blockContainer");
    element.setAttribute("id", id);
    element.insert(0, content);
    return element;
  };
  const named = (name: string, ...content: (Y.XmlElement | Y.XmlText)[]) => {
    const element = new Y.XmlElement(name);
    element.insert(0, content);
    return element;
  };
  const inner = named("blockGroup", container("b", named("paragraph", new Y.XmlText("inner"))));
  type.insert(0, [named("blockGroup", container("a", named("paragraph", new Y.XmlText("outer")), inner))]);
  change({ doc }, XML, [
    { at: quote("outer"), insert: "after", block: { name: "heading", attributes: { level: 2 } } },
    { at: quote("inner", "before"), insert: "before", block: { name: "paragraph" } },
    { at: "end", insert: "end", block: { name: "paragraph" } },
  ]);
  expect(type.toString()).toBe(
    '<blockgroup><blockcontainer id="a"><paragraph>outer</paragraph><blockgroup><blockcontainer><paragraph>before</paragraph></blockcontainer><blockcontainer id="b"><paragraph>inner</paragraph></blockcontainer></blockgroup></blockcontainer><blockcontainer><heading level="2">after</heading></blockcontainer><blockcontainer><paragraph>end</paragraph></blockcontainer></blockgroup>',
  );
});

it("a text of Lexical is written behind the map with which it begins, and gets no elements", () => {
  const doc = new Y.Doc();
  const type = doc.getXmlFragment("root");
  const [full, empty] = [new Y.XmlText(), new Y.XmlText()];
  type.insert(0, [full, empty]);
  for (const text of [full, empty]) text.setAttribute("__type", "paragraph");
  full.insertEmbed(0, new Y.Map([["__type", "text"]]));
  full.insert(1, "one");
  const { edits } = change({ doc }, XML, [{ at: "start", insert: "> " }]);
  expect([edits[0]?.text, full.toDelta()[1], full.toDelta().length]).toEqual([
    "> one",
    { insert: "> one" },
    2,
  ]);
  expect(() => change({ doc }, XML, [{ at: "end", insert: "x" }])).toThrow(
    "only its editor can begin a text in it",
  );
  for (const at of ["end", quote("one")] as const)
    expect(() => change({ doc }, XML, [{ at, insert: "x", block: { name: "paragraph" } }])).toThrow(
      "edits[0]: Lexical keeps its blocks in another form",
    );
});

it("a text goes on directly after what was written of it, although others type there, also in blocks", () => {
  const at = typed("start");
  let place: Edit["at"] = "end";
  for (const insert of [" a", "b😀", "c"]) {
    const { edits } = change(at, TEXT, [{ at: place, insert }]);
    place = { anchor: bytesToBase64(edits[0]?.end ?? new Uint8Array()) };
    typing(at, () => at.type.insert(at.type.toString().replace(/\|+$/, "").length, "|"));
  }
  expect(at.type.toString()).toBe("start ab😀c|||");
  const paragraphs = written(line("first"));
  const block = { name: "paragraph" };
  const begun = change(paragraphs, XML, [{ at: "end", insert: "one\n\ntwo", block }]);
  place = { anchor: bytesToBase64(begun.edits[0]?.end ?? new Uint8Array()) };
  const gone = change(paragraphs, XML, [
    { at: place, insert: " more" },
    { at: place, insert: "three", block },
  ]);
  expect(paragraphs.type.toString()).toBe(
    "<paragraph>first</paragraph><paragraph>one</paragraph><paragraph>two more</paragraph><paragraph>three</paragraph>",
  );
  place = { anchor: bytesToBase64(gone.edits[1]?.end ?? new Uint8Array()) };
  typing(paragraphs, () => paragraphs.type.delete(3, 1));
  expect(() => change(paragraphs, XML, [{ at: place, insert: "!" }])).toThrow("deleted");
});

it("shows the blocks that people changed since it has read, with what is new, what is gone, and who it was", () => {
  const at = written(line("one"), line("two"), line("three"), line("four"));
  at.doc.gc = false;
  const { state } = readBlocks(update(at), XML, { after: null, limit: 1 });
  const text = (index: number) => (at.type.get(index) as Y.XmlElement).get(0) as Y.XmlText;
  const ada = typing(at, () => text(0).insert(3, "!!"));
  const ben = typing(at, () => {
    text(1).delete(0, 2);
    text(2).insert(0, "xy");
    text(2).delete(0, 2);
    at.type.delete(3, 1);
  });
  const since = [
    ...ada.map((data) => [data, "ada"] as const),
    ...ben.map((data) => [data, "ben"] as const),
  ].map(([data, who], index) => ({ seq: index + 1, authors: [by(who)], data }));
  expect(changedBlocks(update(at), XML, state, since, PROGRAM)).toEqual([
    { text: "one!!", inserted: 2, deleted: 0, authors: [by("ada")] },
    { text: "o", inserted: 0, deleted: 2, authors: [by("ben")] },
    { text: "", inserted: 0, deleted: 4, authors: [by("ben")] },
  ]);
  const lines = typed("a\nb\n");
  const known = Y.encodeStateVector(lines.doc);
  const data = typing(lines, () => lines.type.insert(2, `${"x".repeat(300)}\nnew`));
  const changed = changedBlocks(
    update(lines),
    TEXT,
    known,
    data.map((each) => ({ seq: 1, authors: [by("ada")], data: each })),
    PROGRAM,
  );
  expect(changed.map(({ text, inserted }) => [text.length, inserted])).toEqual([
    [EDIT_LIMITS.shownText, 301],
    [4, 3],
  ]);
});
