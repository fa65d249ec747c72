/** The parts of suggestions, and the review of them, in each kind of shared type. */
import { initProseMirrorDoc, updateYFragment } from "@tiptap/y-tiptap";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { acceptingUpdate, partsOf } from "../../../src/room/documents/suggestions/suggestions.ts";
import { line, schema, written } from "./edited-documents.ts";

const NOTHING = (): void => undefined;

/** A document with a suggestion, and what others do with the document meanwhile. */
function suggested(
  fill: (doc: Y.Doc) => void,
  suggest: (doc: Y.Doc) => void,
  meanwhile: (doc: Y.Doc) => void = NOTHING,
) {
  const base = new Y.Doc();
  fill(base);
  const copy = (change: (doc: Y.Doc) => void) => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(base));
    change(doc);
    return doc;
  };
  const [fork, current] = [copy(suggest), copy(meanwhile)];
  const versions = {
    base: Y.encodeStateAsUpdate(base),
    fork: Y.encodeStateAsUpdate(fork),
    current: Y.encodeStateAsUpdate(current),
  };
  const parts = partsOf(versions);
  /** The document after a review that accepts the parts with these numbers. */
  const reviewed = (...accepted: number[]): Y.Doc => {
    const ids = accepted.flatMap((index) => parts[index]?.id ?? []);
    const outcome = acceptingUpdate(versions, new Set(ids));
    if (outcome !== null) Y.applyUpdate(current, outcome.update);
    return current;
  };
  return { versions, parts, reviewed, fork, current };
}

const shownOf = (parts: ReturnType<typeof partsOf>) =>
  parts.map(({ kind, before, after }) => [kind, before, after]);

const textOf = (doc: Y.Doc) => doc.getText("root");
const xmlOf = (doc: Y.Doc) => doc.getXmlFragment("root");
const mapOf = (doc: Y.Doc) => doc.getMap("root");
const fox = (doc: Y.Doc) => textOf(doc).insert(0, "The quick brown fox jumps");

describe("a text", () => {
  const edit = (doc: Y.Doc) => {
    textOf(doc).insert(25, " high");
    textOf(doc).delete(10, 6);
    textOf(doc).delete(4, 5);
    textOf(doc).insert(4, "slow");
  };

  it("has a part for each contiguous change, with its context", () => {
    const { parts } = suggested(fox, edit);
    expect(shownOf(parts)).toEqual([
      ["replace", "quick", "slow"],
      ["delete", "brown ", null],
      ["insert", null, " high"],
    ]);
    expect(parts[1]).toMatchObject({
      root: "root",
      path: [9],
      context: { before: "The  ", after: "fox jumps" },
      isStale: false,
    });
  });

  it.each([
    [[0], "The slow brown fox jumps"],
    [[1], "The quick fox jumps"],
    [[2], "The quick brown fox jumps high"],
    [[0, 2], "The slow brown fox jumps high"],
    [[], "The quick brown fox jumps"],
  ])("takes the accepted parts %j alone", (accepted, text) => {
    const { reviewed } = suggested(fox, edit);
    expect(textOf(reviewed(...accepted)).toString()).toBe(text);
  });

  it("keeps what others write meanwhile, also within what is deleted", () => {
    const { reviewed } = suggested(fox, edit, (doc) => textOf(doc).insert(12, "!"));
    expect(textOf(reviewed(0, 1, 2)).toString()).toBe("The slow !fox jumps high");
  });

  it("shows nothing of what its author wrote and deleted again", () => {
    const { parts, reviewed } = suggested(fox, (doc) => {
      textOf(doc).insert(3, "XY");
      textOf(doc).delete(3, 1);
    });
    expect(shownOf(parts)).toEqual([["insert", null, "Y"]]);
    expect(textOf(reviewed(0)).toString()).toBe("TheY quick brown fox jumps");
  });

  it("has its formats as one part, whatever is inserted within", () => {
    const { parts, reviewed } = suggested(fox, (doc) => {
      textOf(doc).format(4, 5, { bold: true });
      textOf(doc).insert(6, "X", { bold: true });
      textOf(doc).format(17, 3, { bold: true });
      textOf(doc).insert(26, " high", { italic: true });
    });
    expect(shownOf(parts)).toEqual([
      ["insert", null, "X"],
      ["insert", null, " high"],
      ["format", "quick brown fox", "<bold>qu</bold><bold>ick</bold> brown <bold>fox</bold>"],
    ]);
    expect(textOf(reviewed(0, 1)).toDelta()).toEqual([
      { insert: "The quXick brown fox jumps" },
      { insert: " high", attributes: { italic: true } },
    ]);
  });

  it("is formatted alone where the format alone is accepted", () => {
    const { reviewed } = suggested(fox, (doc) => {
      textOf(doc).insert(4, "X", { bold: true });
      textOf(doc).format(4, 6, { bold: true });
    });
    expect(textOf(reviewed(1)).toDelta()).toEqual([
      { insert: "The " },
      { insert: "quick", attributes: { bold: true } },
      { insert: " brown fox jumps" },
    ]);
  });

  it("has stale parts exactly where its text went", () => {
    const { parts, versions } = suggested(fox, edit, (doc) => textOf(doc).delete(4, 6));
    expect(parts.map(({ isStale }) => isStale)).toEqual([true, false, false]);
    for (const accepted of ["all", new Set([parts[0]?.id ?? ""])] as const)
      expect(() => acceptingUpdate(versions, accepted)).toThrow("has changed where part");
    const insertion = (meanwhile: (doc: Y.Doc) => void) =>
      suggested(fox, (doc) => textOf(doc).insert(10, "X"), meanwhile).parts[0]?.isStale;
    expect(insertion((doc) => textOf(doc).delete(9, 1))).toBe(false);
    expect(insertion((doc) => textOf(doc).delete(9, 2))).toBe(true);
  });

  it("refuses parts that it does not have", () => {
    const { versions } = suggested(fox, edit);
    expect(() => acceptingUpdate(versions, new Set(["1-2"]))).toThrow("has no part");
  });

  it("has nothing to accept where the fork or the review has nothing", () => {
    const { versions } = suggested(fox, NOTHING);
    expect([partsOf(versions), acceptingUpdate(versions, "all")]).toEqual([[], null]);
    expect(acceptingUpdate(suggested(fox, edit).versions, new Set())).toBeNull();
  });

  it("takes nothing that the document has already", () => {
    const { versions, fork, parts } = suggested(fox, edit);
    const current = Y.encodeStateAsUpdate(fork);
    expect(partsOf({ ...versions, current }).every(({ isStale }) => isStale)).toBe(true);
    expect(() => acceptingUpdate({ ...versions, current }, new Set([parts[0]?.id ?? ""]))).toThrow();
  });
});

describe("a document of Tiptap", () => {
  const heading = (level: number, text: string) => ({ ...line(text), type: "heading", attrs: { level } });
  const bold = (text: string) => ({ type: "text", text, marks: [{ type: "bold" }] });

  /** The document of Tiptap that its editor turns into another one. */
  const tiptap = (before: readonly object[], after: readonly object[], meanwhile?: (doc: Y.Doc) => void) =>
    suggested(
      (doc) => Y.applyUpdate(doc, Y.encodeStateAsUpdate(written(...before).doc)),
      (doc) => {
        const { meta } = initProseMirrorDoc(xmlOf(doc), schema);
        updateYFragment(doc, xmlOf(doc), schema.nodeFromJSON({ type: "doc", content: after }), meta);
      },
      meanwhile,
    );

  it("has one part where a paragraph is split", () => {
    const { parts, reviewed } = tiptap(
      [line("Hello world"), line("End")],
      [line("Hello"), line(" world"), line("End")],
    );
    expect(shownOf(parts)).toEqual([["replace", " world", "<paragraph> world</paragraph>"]]);
    expect(parts[0]?.context).toEqual({ before: "Hello", after: "End\n" });
    expect(xmlOf(reviewed(0)).toString()).toBe(
      "<paragraph>Hello</paragraph><paragraph> world</paragraph><paragraph>End</paragraph>",
    );
  });

  it("has one part where two paragraphs are joined", () => {
    const { parts, reviewed } = tiptap(
      [line("One"), line("two"), line("End")],
      [line("Onetwo"), line("End")],
    );
    expect(shownOf(parts)).toEqual([["replace", "<paragraph>two</paragraph>", "two"]]);
    expect(xmlOf(reviewed(0)).toString()).toBe("<paragraph>Onetwo</paragraph><paragraph>End</paragraph>");
  });

  it("has one part where a paragraph becomes a heading", () => {
    const { parts, reviewed } = tiptap([line("Title"), line("End")], [heading(2, "Title"), line("End")]);
    expect(shownOf(parts)).toEqual([
      ["replace", "<paragraph>Title</paragraph>", '<heading level="2">Title</heading>'],
    ]);
    expect(xmlOf(reviewed(0)).toString()).toBe(
      '<heading level="2">Title</heading><paragraph>End</paragraph>',
    );
  });

  it("has an attribute as a part of its own", () => {
    const [before, after] = [
      [heading(2, "Title"), line("End")],
      [heading(3, "Title"), line("End!")],
    ];
    const { parts, reviewed } = tiptap(before, after);
    expect(parts.map(({ kind, path }) => [kind, path])).toEqual([
      ["set", [0, "level"]],
      ["insert", [1, 0, 3]],
    ]);
    expect(xmlOf(reviewed(1)).toString()).toBe(
      '<heading level="2">Title</heading><paragraph>End!</paragraph>',
    );
    expect(xmlOf(tiptap(before, after).reviewed(0)).toString()).toBe(
      '<heading level="3">Title</heading><paragraph>End</paragraph>',
    );
  });

  it("has marks as a format", () => {
    const marked = [{ type: "paragraph", content: [{ type: "text", text: "a " }, bold("b"), bold("c")] }];
    const { parts, reviewed } = tiptap([line("a bc")], marked);
    expect(shownOf(parts)).toEqual([["format", "bc", "<bold>bc</bold>"]]);
    expect(xmlOf(reviewed(0)).toString()).toBe("<paragraph>a <bold>bc</bold></paragraph>");
  });

  it("has stale parts in a block that was deleted", () => {
    const { parts } = tiptap([line("One"), line("two")], [line("One!"), line("two?")], (doc) =>
      xmlOf(doc).delete(1, 1),
    );
    expect(parts.map(({ isStale }) => isStale)).toEqual([false, true]);
  });
});

it("a document of Lexical has its texts and blocks as parts", () => {
  const block = (text: string) => {
    const [type, node] = [new Y.XmlText(), new Y.Map()];
    type.insertEmbed(0, node);
    type.insert(1, text);
    return type;
  };
  const root = (doc: Y.Doc) => doc.get("root", Y.XmlText);
  const { parts, reviewed } = suggested(
    (doc) => root(doc).insertEmbed(0, block("One")),
    (doc) => {
      (root(doc).toDelta()[0].insert as Y.XmlText).insert(1, "Big ");
      root(doc).insertEmbed(1, block("Two"));
    },
  );
  expect(shownOf(parts)).toEqual([
    ["insert", null, "Big "],
    ["insert", null, "Two"],
  ]);
  const [first] = root(reviewed(0)).toDelta();
  expect(root(reviewed(0)).length).toBe(1);
  expect((first.insert as Y.XmlText).toDelta().at(-1)).toEqual({ insert: "Big One" });
});

describe("a map", () => {
  const fill = (doc: Y.Doc) => {
    mapOf(doc).set("title", "Old");
    mapOf(doc).set("text", new Y.Text("abc"));
    mapOf(doc).set("gone", 1);
  };
  const suggest = (doc: Y.Doc) => {
    mapOf(doc).set("title", "Newer");
    mapOf(doc).set("title", "New");
    mapOf(doc).delete("gone");
    mapOf(doc).set("made", new Y.Map([["inner", 2]]));
    (mapOf(doc).get("text") as Y.Text).insert(3, "d");
  };

  it("has a part for each key, and the changes within its types", () => {
    const { parts } = suggested(fill, suggest);
    expect(parts.map(({ path, kind, before, after }) => [path, kind, before, after])).toEqual([
      [["title"], "set", '"Old"', '"New"'],
      [["text", 3], "insert", null, "d"],
      [["gone"], "set", "1", null],
      [["made"], "set", null, '{"inner":2}'],
    ]);
  });

  it.each([
    [[0], { title: "New", text: "abc", gone: 1 }],
    [[2], { title: "Old", text: "abc" }],
    [[3], { title: "Old", text: "abc", gone: 1, made: { inner: 2 } }],
    [[1], { title: "Old", text: "abcd", gone: 1 }],
  ])("takes the accepted parts %j alone", (accepted, map) => {
    expect(mapOf(suggested(fill, suggest).reviewed(...accepted)).toJSON()).toEqual(map);
  });

  it("keeps the values of others, and the types in which they write, at rejected keys", () => {
    const { parts, reviewed, current } = suggested(
      fill,
      (doc) => {
        suggest(doc);
        mapOf(doc).set("text", "replaced");
      },
      (doc) => {
        mapOf(doc).set("title", "Theirs");
        mapOf(doc).set("made", "Theirs");
        (mapOf(doc).get("text") as Y.Text).insert(3, "!");
      },
    );
    expect(parts.map(({ isStale }) => isStale)).toEqual([true, false, false, true]);
    reviewed(2);
    (mapOf(current).get("text") as Y.Text).insert(4, "?");
    expect(mapOf(current).toJSON()).toEqual({ title: "Theirs", text: "abc!?", made: "Theirs" });
  });

  it("tells whether keys were set back", () => {
    const { versions, parts } = suggested(fill, suggest);
    const setsBack = (index: number) =>
      acceptingUpdate(versions, new Set([parts[index]?.id ?? ""]))?.setsBack;
    expect([setsBack(1), acceptingUpdate(versions, "all")?.setsBack]).toEqual([true, false]);
  });
});

it("a list has its values as JSON, and subdocuments as nothing", () => {
  const list = (doc: Y.Doc) => doc.getArray("root");
  const { parts, reviewed } = suggested(
    (doc) => list(doc).insert(0, [1, { a: 2 }, 3]),
    (doc) => {
      list(doc).delete(1, 1);
      list(doc).insert(0, ["x", new Y.Doc()]);
    },
  );
  expect(parts.map(({ path, kind, before, after }) => [path, kind, before, after])).toEqual([
    [[0], "insert", null, '"x",null'],
    [[3], "delete", '{"a":2}', null],
  ]);
  expect(list(reviewed(1)).toJSON()).toEqual([1, 3]);
});

describe("a hostile fork", () => {
  it("deletes nothing of others by operations in their name", () => {
    const ada = 77;
    const base = new Y.Doc();
    base.clientID = ada;
    fox(base);
    const [fork, current] = [base, base].map((from) => {
      const doc = new Y.Doc();
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(from));
      doc.clientID = ada;
      return doc;
    });
    if (fork === undefined || current === undefined) throw new Error("A copy is missing");
    textOf(fork).insert(0, "forged");
    textOf(fork).delete(0, 3);
    fork.clientID = 78;
    textOf(fork).insert(textOf(fork).length, " high");
    textOf(current).insert(25, "Ada's own");
    const versions = {
      base: Y.encodeStateAsUpdate(base),
      fork: Y.encodeStateAsUpdate(fork),
      current: Y.encodeStateAsUpdate(current),
    };
    const parts = partsOf(versions);
    expect(parts.map(({ after, isStale }) => [after, isStale])).toEqual([
      ["ged", true],
      [" high", false],
    ]);
    Y.applyUpdate(
      current,
      acceptingUpdate(versions, new Set([parts[1]?.id ?? ""]))?.update ?? new Uint8Array(),
    );
    expect(textOf(current).toString()).toContain("Ada's own");
  });

  it("is refused beyond the bounds of built documents", () => {
    expect(() => suggested(fox, (doc) => textOf(doc).insert(0, "x".repeat(3_000_000)))).toThrow(
      "A document above",
    );
    const nest = (doc: Y.Doc) => {
      let at: Y.Map<unknown> = mapOf(doc);
      for (let depth = 0; depth < 500; depth += 1) {
        const inner = new Y.Map<unknown>();
        at.set("in", inner);
        at = inner;
      }
    };
    expect(() => suggested(NOTHING, nest)).toThrow("nested more than 200 levels");
  });

  it("with thousands of parts is reviewed part by part", () => {
    const doc = new Y.Doc();
    const letters = 2_000;
    // Each letter before the last one: their clocks go down along the text.
    doc.transact(() => {
      for (let at = 0; at < letters; at += 1) textOf(doc).insert(0, "ab");
    });
    const base = Y.encodeStateAsUpdate(doc);
    const deleted = Array.from({ length: letters }, (_, at) => ({ clock: 2 * at, len: 1 }));
    const ds = Y.createDeleteSet();
    ds.clients.set(doc.clientID, deleted);
    const snapshot = Y.encodeSnapshot(Y.createSnapshot(ds, new Map())).subarray(0, -1);
    const versions = { base, fork: Y.mergeUpdates([base, Uint8Array.from([0, ...snapshot])]), current: base };
    const parts = partsOf(versions);
    expect(parts).toHaveLength(letters);
    const accepted = new Set(parts.filter((_, index) => index % 2 === 0).map(({ id }) => id));
    Y.applyUpdate(doc, acceptingUpdate(versions, accepted)?.update ?? new Uint8Array());
    expect(textOf(doc).length).toBe(letters + letters / 2);
  });
});
