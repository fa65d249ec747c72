/** The parts of suggestions, and the review of them, in each kind of shared type. */
import { initProseMirrorDoc, updateYFragment } from "@tiptap/y-tiptap";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
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
    secret: "secret",
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

  it("shows nothing of what its author deleted and took back, which stays the document's own", () => {
    const { parts, versions, reviewed } = suggested(
      fox,
      (doc) => {
        const undo = new Y.UndoManager(textOf(doc));
        textOf(doc).delete(4, 5);
        undo.undo();
        textOf(doc).insert(textOf(doc).length, " high");
      },
      (doc) => textOf(doc).insert(6, "!"),
    );
    expect(shownOf(parts)).toEqual([["insert", null, " high"]]);
    expect(textOf(reviewed(0)).toString()).toBe("The qu!ick brown fox jumps high");
    expect(parts[0]?.isStale).toBe(false);
    expect(versions.fork.length).toBeGreaterThan(versions.base.length);
  });

  it("is changed by what only looks the same: a format, or an embed in another place", () => {
    const tagged = "z<bold>x</bold>z";
    const literal = suggested(
      (doc) => textOf(doc).insert(0, tagged),
      (doc) => {
        textOf(doc).delete(0, tagged.length);
        textOf(doc).insert(0, "zxz", {});
        textOf(doc).format(1, 1, { bold: true });
      },
    );
    const moved = suggested(
      (doc) => {
        textOf(doc).insertEmbed(0, { a: 1 });
        textOf(doc).insert(1, '{"a":1}');
      },
      (doc) => {
        textOf(doc).delete(0, 8);
        textOf(doc).insert(0, '{"a":1}');
        textOf(doc).insertEmbed(7, { a: 1 });
      },
    );
    expect([literal, moved].map(({ parts }) => parts.length)).toEqual([1, 1]);
  });

  it("has its formats as one part, whatever is inserted within", () => {
    const { parts, reviewed } = suggested(fox, (doc) => {
      textOf(doc).format(4, 5, { bold: true });
      textOf(doc).insert(6, "X", { bold: true });
      textOf(doc).format(17, 3, { bold: true });
      textOf(doc).insert(26, " high", { italic: true });
    });
    expect(shownOf(parts)).toEqual([
      ["insert", null, "<bold>X</bold>"],
      ["insert", null, "<italic> high</italic>"],
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
});

it("a fork that lacks changes of its author can be rejected alone", () => {
  const { versions, fork } = suggested(fox, (doc) => textOf(doc).insert(0, "Oh! "));
  const lacking = new Y.Doc();
  Y.applyUpdate(lacking, versions.fork);
  lacking.clientID = fork.clientID;
  textOf(lacking).insert(0, "Lost. ");
  const known = Y.encodeStateVector(lacking);
  textOf(lacking).insert(0, "Waiting. ");
  const waiting = {
    ...versions,
    fork: Y.mergeUpdates([versions.fork, Y.encodeStateAsUpdate(lacking, known)]),
  };
  expect(shownOf(partsOf(waiting))).toEqual([["insert", null, "Oh! "]]);
  expect(() => acceptingUpdate(waiting, "all")).toThrow("lacks changes of its author");
  expect(acceptingUpdate(waiting, new Set())).toBeNull();
  const both = { ...versions, base: waiting.fork, fork: waiting.fork, current: waiting.fork };
  expect(acceptingUpdate(both, "all")).toBeNull();
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
    ["insert", null, "{}Two"],
  ]);
  const blocks = root(reviewed(0));
  const [first] = blocks.toDelta();
  expect(blocks.length).toBe(1);
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

  it("has a part for a value that looks like another one", () => {
    const { parts, reviewed } = suggested(
      (doc) => {
        mapOf(doc).set("number", "1");
        mapOf(doc).set("bytes", "AQ==");
        mapOf(doc).set("text", "abc");
        mapOf(doc).set("sub", new Y.Doc({ guid: "first" }));
      },
      (doc) => {
        mapOf(doc).set("number", 1n);
        mapOf(doc).set("bytes", new Uint8Array([1]));
        mapOf(doc).set("text", new Y.Text("abc"));
        mapOf(doc).set("sub", new Y.Doc({ guid: "second" }));
      },
    );
    expect(parts.map(({ path: [key], before, after }) => [key, before, after])).toEqual([
      ["number", '"1"', '"1"'],
      ["bytes", '"AQ=="', '"AQ=="'],
      ["text", '"abc"', '"abc"'],
      ["sub", '{"guid":"first"}', '{"guid":"second"}'],
    ]);
    const map = mapOf(reviewed(0, 1, 2, 3));
    expect([map.get("number"), map.get("bytes")]).toEqual([1n, new Uint8Array([1])]);
    expect(map.get("text")).toBeInstanceOf(Y.Text);
    expect((map.get("sub") as Y.Doc).guid).toBe("second");
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
    expect(parts.map(({ isStale }) => isStale)).toEqual([true, true, false, true]);
    reviewed(2);
    (mapOf(current).get("text") as Y.Text).insert(4, "?");
    expect(mapOf(current).toJSON()).toEqual({ title: "Theirs", text: "abc!?", made: "Theirs" });
  });
});

it("a list has its values as JSON, and subdocuments as their IDs", () => {
  const list = (doc: Y.Doc) => doc.getArray("root");
  const { parts, reviewed } = suggested(
    (doc) => list(doc).insert(0, [1, { a: 2 }, 3]),
    (doc) => {
      list(doc).delete(1, 1);
      list(doc).insert(0, ["x", new Y.Doc({ guid: "sub" })]);
    },
  );
  expect(parts.map(({ path, kind, before, after }) => [path, kind, before, after])).toEqual([
    [[0], "insert", null, '"x",{"guid":"sub"}'],
    [[3], "delete", '{"a":2}', null],
  ]);
  expect(list(reviewed(1)).toJSON()).toEqual([1, 3]);
});

describe("inserted text", () => {
  const shown = (fill: (doc: Y.Doc) => void, suggest: (doc: Y.Doc) => void) =>
    shownOf(suggested(fill, suggest).parts);
  const emphasis = { bold: true, link: "https://example.org/a" };

  it("is shown with its formats, and what else they say", () => {
    expect(
      shown(fox, (doc) => {
        textOf(doc).insert(3, " plain", {});
        textOf(doc).insert(9, " link", emphasis);
        textOf(doc).insert(14, "s", emphasis);
        textOf(doc).insert(15, " note", { note: { by: ["ada"] }, flag: false });
      }),
    ).toEqual([
      [
        "insert",
        null,
        ' plain<bold><link value="https://example.org/a"> links</link></bold>' +
          '<flag value="false"><note by="["ada"]"> note</note></flag>',
      ],
    ]);
  });

  it("is shown beside the deleted text, with the formats of both", () => {
    const { parts } = suggested(
      (doc) => textOf(doc).insert(0, "see here", emphasis),
      (doc) => {
        textOf(doc).insert(4, "there", { bold: true, link: null });
        textOf(doc).delete(9, 4);
      },
    );
    expect(shownOf(parts)).toEqual([
      ["replace", '<bold><link value="https://example.org/a">here</link></bold>', "<bold>there</bold>"],
    ]);
  });

  it("is shown with its embedded values", () => {
    const image = { image: "https://example.org/cat.png" };
    expect(shown(fox, (doc) => textOf(doc).insertEmbed(3, image, { bold: true }))).toEqual([
      ["insert", null, '<bold>{"image":"https://example.org/cat.png"}</bold>'],
    ]);
    const insertBlock = (doc: Y.Doc) => {
      const [element, text] = [new Y.XmlElement("p"), new Y.XmlText()];
      element.setAttribute("style", { width: [1] } as unknown as string);
      element.insert(0, [text]);
      text.insert(0, "a cat", { link: { href: "https://example.org" } });
      text.insertEmbed(2, image);
      xmlOf(doc).insert(0, [element]);
    };
    const block =
      '<p style="{"width":[1]}"><link href="https://example.org">a </link>{"image":"https://example.org/cat.png"}' +
      '<link href="https://example.org">cat</link></p>';
    expect(shown(NOTHING, insertBlock)).toEqual([["insert", null, block]]);
    const gone = shown(insertBlock, (doc) => xmlOf(doc).delete(0, 1));
    expect(gone).toEqual([["delete", block, null]]);
  });

  it("is shown with the attributes of its block, as Lexical has them", () => {
    const root = (doc: Y.Doc) => doc.get("root", Y.XmlText);
    const insertLink = (doc: Y.Doc) => {
      const link = new Y.XmlText("here");
      link.setAttribute("__type", "link");
      link.setAttribute("__url", "https://example.org");
      root(doc).insertEmbed(0, link);
    };
    expect(shown(NOTHING, insertLink)).toEqual([
      ["insert", null, '<text __type="link" __url="https://example.org">here</text>'],
    ]);
  });

  it("in a new key is shown with its formats", () => {
    const write = (doc: Y.Doc) => {
      const text = new Y.Text();
      mapOf(doc).set("text", text);
      text.insert(0, "here", { link: "https://example.org" });
    };
    expect(shown(NOTHING, write)).toEqual([
      ["set", null, JSON.stringify('<link value="https://example.org">here</link>')],
    ]);
  });

  it("is refused with more formats than can be shown", () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`format-${at}`, true]));
    const suggest = (doc: Y.Doc) => {
      for (let at = 0; at < 200; at += 1) textOf(doc).insert(at, "x", { ...many, size: at });
    };
    expect(() => suggested(NOTHING, suggest)).toThrow("too many formats");
  });
});

describe("what others write meanwhile", () => {
  const greeting = (doc: Y.Doc) => mapOf(doc).set("text", new Y.Text("hello"));
  const greet = (doc: Y.Doc) => (mapOf(doc).get("text") as Y.Text).insert(5, " Ada");

  it("stays where the fork has a new text that looks the same: that is in no part", () => {
    const { parts, versions, current } = suggested(
      greeting,
      (doc) => {
        greeting(doc);
        mapOf(doc).set("title", "New");
      },
      greet,
    );
    expect(parts.map(({ path }) => path)).toEqual([["title"]]);
    Y.applyUpdate(current, acceptingUpdate(versions, "all")?.update ?? new Uint8Array());
    expect(mapOf(current).toJSON()).toEqual({ text: "hello Ada", title: "New" });
  });

  it("stays at a key that the fork set and deleted: that is in no part", () => {
    const { versions, current } = suggested(
      fox,
      (doc) => {
        doc.clientID = 2 ** 32 - 1;
        doc.getMap("keys").set("k", 1);
        doc.getMap("keys").delete("k");
        textOf(doc).insert(0, "X");
      },
      (doc) => {
        doc.clientID = 1;
        doc.getMap("keys").set("k", 2);
      },
    );
    Y.applyUpdate(current, acceptingUpdate(versions, "all")?.update ?? new Uint8Array());
    expect(current.getMap("keys").toJSON()).toEqual({ k: 2 });
  });

  const paragraph = (doc: Y.Doc) => {
    const element = new Y.XmlElement("p");
    element.insert(0, [new Y.XmlText("One")]);
    xmlOf(doc).insert(0, [element]);
  };
  const inFirst = (doc: Y.Doc) => (xmlOf(doc).get(0) as Y.XmlElement).get(0) as Y.XmlText;
  const staleAfter = (
    fill: (doc: Y.Doc) => void,
    suggest: (doc: Y.Doc) => void,
    meanwhile: (doc: Y.Doc) => void,
  ) => suggested(fill, suggest, meanwhile).parts.map(({ isStale }) => isStale);

  it("into a block, or a text at a key, makes the deletion of it stale", () => {
    const deleteFirst = (doc: Y.Doc) => xmlOf(doc).delete(0, 1);
    expect(staleAfter(paragraph, deleteFirst, (doc) => inFirst(doc).insert(3, "!"))).toEqual([true]);
    expect(
      staleAfter(paragraph, deleteFirst, (doc) => (xmlOf(doc).get(0) as Y.XmlElement).setAttribute("a", "1")),
    ).toEqual([true]);
    expect(staleAfter(greeting, (doc) => mapOf(doc).set("text", "x"), greet)).toEqual([true]);
    expect(staleAfter(greeting, (doc) => mapOf(doc).delete("text"), greet)).toEqual([true]);
  });

  it("only as formats leaves the deletion of a block as it is", () => {
    const format = (doc: Y.Doc) => inFirst(doc).format(0, 3, { comment: "thread" });
    expect(staleAfter(paragraph, (doc) => xmlOf(doc).delete(0, 1), format)).toEqual([false]);
  });

  it("elsewhere, or deleted again, leaves the deletion of a block as it is", () => {
    const deleteFirst = (doc: Y.Doc) => xmlOf(doc).delete(0, 1);
    expect(staleAfter(paragraph, deleteFirst, paragraph)).toEqual([false]);
    const write = (doc: Y.Doc) => {
      inFirst(doc).insert(3, "!");
      inFirst(doc).delete(3, 1);
    };
    expect(staleAfter(paragraph, deleteFirst, write)).toEqual([false]);
    expect(staleAfter(paragraph, deleteFirst, (doc) => inFirst(doc).delete(1, 1))).toEqual([false]);
  });

  it("to a key, and deletes again, makes its part stale: the part could be lost", () => {
    const meanwhile = (doc: Y.Doc) => {
      mapOf(doc).set("k", "theirs");
      mapOf(doc).delete("k");
    };
    expect(staleAfter(NOTHING, (doc) => mapOf(doc).set("k", "mine"), meanwhile)).toEqual([true]);
    expect(staleAfter(NOTHING, (doc) => mapOf(doc).set("other", "mine"), meanwhile)).toEqual([false]);
  });
});

describe("an acceptance", () => {
  const block = (text: string) => {
    const element = new Y.XmlElement("p");
    element.insert(0, [new Y.XmlText(text)]);
    return element;
  };
  const fill = (doc: Y.Doc) => {
    doc.getText("text").insert(0, "The quick brown fox jumps");
    doc.getXmlFragment("xml").insert(0, [block("One"), block("Two"), block("")]);
  };
  const inBlock = (doc: Y.Doc, at: number) =>
    (doc.getXmlFragment("xml").get(at) as Y.XmlElement).get(0) as Y.XmlText;
  const suggest = (doc: Y.Doc) => {
    doc.getText("text").delete(4, 5);
    doc.getText("text").insert(11, "red ");
    doc.getText("text").format(17, 3, { bold: true });
    doc.getXmlFragment("xml").delete(2, 1);
    doc.getXmlFragment("xml").delete(0, 1);
  };
  /** Whether what comes after the document as it was read touches the accepted parts. */
  const isTouched = (later: (doc: Y.Doc) => void, meanwhile = NOTHING as (doc: Y.Doc) => void) => {
    const { versions, current } = suggested(fill, suggest, meanwhile);
    const accepting = acceptingUpdate(versions, "all");
    if (accepting === null) throw new Error("Nothing is accepted");
    const known = Y.encodeStateVector(current);
    later(current);
    return isOvertaken(accepting.guard, [Y.encodeStateAsUpdate(current, known)]);
  };

  it.each<[string, (doc: Y.Doc) => void, boolean]>([
    ["text elsewhere", (doc) => doc.getText("text").insert(0, "Oh! "), false],
    ["text between deleted characters", (doc) => doc.getText("text").insert(6, "!"), false],
    ["the deletion of text elsewhere", (doc) => doc.getText("text").delete(0, 2), false],
    ["another block", (doc) => doc.getXmlFragment("xml").insert(1, [block("new")]), false],
    ["text in a block that stays", (doc) => inBlock(doc, 1).insert(0, "!"), false],
    ["the deletion of deleted text", (doc) => doc.getText("text").delete(5, 1), true],
    ["the deletion of formatted text", (doc) => doc.getText("text").delete(18, 1), true],
    ["the deletion beside an insertion", (doc) => doc.getText("text").delete(15, 1), true],
    ["the deletion of a deleted block", (doc) => doc.getXmlFragment("xml").delete(0, 1), true],
    ["text in a deleted block", (doc) => inBlock(doc, 0).insert(3, "!"), true],
    [
      "an attribute of a deleted block",
      (doc) => (doc.getXmlFragment("xml").get(0) as Y.XmlElement).setAttribute("a", "1"),
      true,
    ],
    ["text in an empty deleted block", (doc) => inBlock(doc, 2).insert(0, "!"), true],
  ])("guards against %s as it must", (_, later, touches) => {
    expect(isTouched(later)).toBe(touches);
  });

  it("guards what is left in an empty block where others had written", () => {
    const write = (doc: Y.Doc) => {
      inBlock(doc, 2).insert(0, "!");
      inBlock(doc, 2).delete(0, 1);
    };
    expect(isTouched((doc) => inBlock(doc, 2).insert(0, "?"), write)).toBe(true);
  });

  it("guards against what it inserts, which comes from its author's own client", () => {
    const { versions, fork, current } = suggested(fill, (doc) => doc.getText("text").insert(3, " very"));
    const accepting = acceptingUpdate(versions, "all");
    if (accepting === null) throw new Error("Nothing is accepted");
    const late = Y.encodeStateAsUpdate(fork, Y.encodeStateVector(current));
    expect(isOvertaken(accepting.guard, [late])).toBe(true);
    expect(isOvertaken(accepting.guard, [versions.base])).toBe(false);
    const then = partsOf({ ...versions, current: versions.fork });
    expect(then.map(({ isStale }) => isStale)).toEqual([true]);
  });

  it("guards against text behind a format at the end of what it deletes", () => {
    const paragraph = (doc: Y.Doc) => {
      const element = new Y.XmlElement("paragraph");
      element.insert(0, [new Y.XmlText("second")]);
      xmlOf(doc).insert(0, [element]);
    };
    const endOf = (doc: Y.Doc) => (xmlOf(doc).get(0) as Y.XmlElement).get(0) as Y.XmlText;
    const { versions, parts, current } = suggested(
      paragraph,
      (doc) => xmlOf(doc).delete(0, 1),
      (doc) => endOf(doc).format(3, 3, { bold: true }),
    );
    expect(parts.map(({ isStale }) => isStale)).toEqual([false]);
    const accepting = acceptingUpdate(versions, "all");
    if (accepting === null) throw new Error("Nothing is accepted");
    const before = Y.encodeStateVector(current);
    endOf(current).insert(6, " behind", {});
    expect(isOvertaken(accepting.guard, [Y.encodeStateAsUpdate(current, before)])).toBe(true);
  });

  it("takes deletions that come again for nothing new", () => {
    const deleteBeside = (doc: Y.Doc) => doc.getText("text").delete(15, 1);
    expect(isTouched(NOTHING, deleteBeside)).toBe(false);
  });

  it("tells whether it fits this document alone", () => {
    const isFragile = (fillOne: (doc: Y.Doc) => void, change: (doc: Y.Doc) => void) =>
      acceptingUpdate(suggested(fillOne, change).versions, "all")?.isFragile;
    expect(isFragile(fill, suggest)).toBe(false);
    expect(isFragile(fill, (doc) => mapOf(doc).set("k", 1))).toBe(true);
  });
});

describe("a hostile fork", () => {
  it("takes no place of what others write, by operations in their name", () => {
    const ada = 77;
    const base = new Y.Doc();
    base.clientID = ada;
    fox(base);
    const copy = () => {
      const doc = new Y.Doc();
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(base));
      doc.clientID = ada;
      return doc;
    };
    const [fork, current, offline] = [copy(), copy(), copy()];
    textOf(fork).insert(0, "forged");
    textOf(fork).delete(0, 3);
    fork.clientID = 78;
    textOf(fork).insert(textOf(fork).length, " high");
    textOf(current).insert(25, ". Ada's own");
    Y.applyUpdate(offline, Y.encodeStateAsUpdate(current));
    offline.clientID = ada;
    textOf(offline).insert(0, "Later: ");
    const versions = {
      base: Y.encodeStateAsUpdate(base),
      fork: Y.encodeStateAsUpdate(fork),
      current: Y.encodeStateAsUpdate(current),
      secret: "secret",
    };
    const parts = partsOf(versions);
    expect(parts.map(({ after, isStale }) => [after, isStale])).toEqual([
      ["ged", true],
      [" high", false],
    ]);
    const accepted = acceptingUpdate(versions, new Set([parts[1]?.id ?? ""]));
    Y.applyUpdate(current, accepted?.update ?? new Uint8Array());
    Y.applyUpdate(current, Y.encodeStateAsUpdate(offline));
    const text = textOf(current).toString();
    for (const own of ["Later: ", ". Ada's own", " high"]) expect(text).toContain(own);
    expect(text).not.toContain("ged");
  });

  it("brings nothing twice that it has from the document itself", () => {
    const { versions, fork, current } = suggested(
      fox,
      (doc) => textOf(doc).insert(0, "Look: "),
      (doc) => textOf(doc).insert(25, " over the dog"),
    );
    Y.applyUpdate(fork, versions.current);
    const refreshed = { ...versions, fork: Y.encodeStateAsUpdate(fork) };
    const parts = partsOf(refreshed);
    expect(parts.map(({ after, isStale }) => [after, isStale])).toEqual([
      ["Look: ", false],
      [" over the dog", true],
    ]);
    const accepted = acceptingUpdate(refreshed, new Set([parts[0]?.id ?? ""]));
    Y.applyUpdate(current, accepted?.update ?? new Uint8Array());
    expect(textOf(current).toString()).toBe("Look: The quick brown fox jumps over the dog");
  });

  it("brings nothing that waits in the document for what it lacks", () => {
    const base = new Y.Doc();
    fox(base);
    const next = (doc: Y.Doc, client: number, text: string) => {
      const copy = new Y.Doc();
      Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
      copy.clientID = client;
      textOf(copy).insert(textOf(copy).length, text);
      return copy;
    };
    const lost = next(base, 8, " high");
    const waiting = next(lost, 9, " and far");
    const document = Y.mergeUpdates([
      Y.encodeStateAsUpdate(base),
      Y.encodeStateAsUpdate(waiting, Y.encodeStateVector(lost)),
    ]);
    const fork = Y.encodeStateAsUpdate(next(waiting, 10, "."));
    const parts = partsOf({ base: document, fork, current: document, secret: "" });
    expect(parts.map(({ after, isStale }) => [after, isStale])).toEqual([[" high and far.", true]]);
  });

  it("brings no text that is rejected", () => {
    const { versions, parts } = suggested(fox, (doc) => {
      textOf(doc).insert(25, " high");
      textOf(doc).insert(0, "rejected ".repeat(1_000));
    });
    const accepted = acceptingUpdate(versions, new Set([parts[1]?.id ?? ""]));
    expect(accepted?.update.length).toBeLessThan(200);
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
    const versions = {
      base,
      fork: Y.mergeUpdates([base, Uint8Array.from([0, ...snapshot])]),
      current: base,
      secret: "",
    };
    const parts = partsOf(versions);
    expect(parts).toHaveLength(letters);
    const accepted = new Set(parts.filter((_, index) => index % 2 === 0).map(({ id }) => id));
    Y.applyUpdate(doc, acceptingUpdate(versions, accepted)?.update ?? new Uint8Array());
    expect(textOf(doc).length).toBe(letters + letters / 2);
  });
});
