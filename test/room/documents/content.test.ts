/** The content of documents (D27): as Yjs shows it, whatever was written, in which order, and with which parts missing. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { SharedType } from "@atrium/contract/shared-types.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { renderContent } from "../../../src/room/documents/content/render-content.ts";
import { sharedTypeOf } from "../../../src/room/documents/updates/built-document.ts";
import { mergeMany } from "../../../src/room/documents/updates/known-content.ts";
import { edit, updatesOf } from "./yjs-edits.ts";

const KINDS = [
  "element",
  "text",
  "embed",
  "format",
  "attribute",
  "remove",
  "nest",
  "value",
  "clear",
  "pull",
] as const;

/** One edit of one client, or the arrival of another client's document. */
type RichEdit = {
  readonly client: number;
  readonly kind: (typeof KINDS)[number];
  /** The index of the type, and the position in it. */
  readonly target: number;
  readonly at: number;
  readonly value: unknown;
};

const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, "Ä✨", 1.5, [1, { a: "b" }], { deep: { er: [] } }),
  fc.uint8Array({ maxLength: 3 }),
  fc.bigInt({ min: 0n, max: 9n }).map((big) => ({ big })),
);

const richEdit: fc.Arbitrary<RichEdit> = fc.record({
  client: fc.nat({ max: 2 }),
  kind: fc.constantFrom(...KINDS),
  target: fc.nat({ max: 30 }),
  at: fc.nat({ max: 12 }),
  value,
});

/** All elements, or all texts, in a fragment. */
function within<Kind>(parent: Y.XmlFragment, kind: new (...args: never[]) => Kind): Kind[] {
  return parent
    .toArray()
    .flatMap((node) => [
      ...(node instanceof kind ? [node] : []),
      ...(node instanceof Y.XmlElement ? within(node, kind) : []),
    ]);
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % (items.length || 1)];

function apply(doc: Y.Doc, { kind, target, at, value }: RichEdit): void {
  const fragment = doc.getXmlFragment("xml");
  const parent = pick([fragment, ...within(fragment, Y.XmlElement)], target) ?? fragment;
  const text = pick(within(fragment, Y.XmlText), target);
  const place = Math.min(at, text?.length ?? 0);
  const map = doc.getMap<unknown>("map");
  const list = doc.getArray<unknown>("list");
  const key = `key${at % 3}`;
  switch (kind) {
    case "element":
      parent.insert(Math.min(at, parent.length), [new Y.XmlElement(`Part${at % 3}`)]);
      break;
    case "text":
      if (text === undefined) parent.insert(0, [new Y.XmlText("start")]);
      else text.insert(place, "a✨b");
      break;
    case "embed":
      text?.insertEmbed(place, target % 2 === 0 ? { image: at } : new Y.XmlElement("mention"));
      break;
    case "format":
      text?.format(place, Math.min(3, text.length - place), {
        [`mark${at % 2}`]: target % 3 === 0 ? null : { id: at },
      });
      break;
    case "attribute":
      if (parent instanceof Y.XmlElement) parent.setAttribute(key, `${target}`);
      break;
    case "remove":
      if (parent.length > 0) parent.delete(Math.min(at, parent.length - 1), 1);
      else if (text !== undefined && text.length > 0) text.delete(Math.min(at, text.length - 1), 1);
      break;
    case "nest":
      map.set(
        key,
        target % 2 === 0 ? new Y.Map([["in", new Y.Text("side")]]) : Y.Array.from([at, new Y.Map()]),
      );
      list.insert(Math.min(at, list.length), [new Y.XmlElement("item"), value, new Y.Array()]);
      break;
    case "value": {
      const inner = map.get(key);
      if (inner instanceof Y.Map) inner.set(`${target % 2}`, value);
      else if (inner instanceof Y.Array) inner.push([value, value]);
      else map.set(key, value);
      break;
    }
    case "clear":
      if (target % 2 === 0) map.delete(key);
      else if (list.length > 0) list.delete(Math.min(at, list.length - 1), 1);
      break;
    case "pull":
  }
}

/** The updates that the edits make, in their order. */
function richUpdatesOf(edits: readonly RichEdit[]): Uint8Array[] {
  const docs = [0, 1, 2].map((index) => {
    const doc = new Y.Doc();
    doc.clientID = 10 - index;
    return doc;
  });
  const updates: Uint8Array[] = [];
  for (const doc of docs)
    doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "pull") updates.push(update);
    });
  for (const edit of edits) {
    const [doc, from] = [docs[edit.client], docs[edit.target % docs.length]];
    if (doc === undefined || from === undefined) continue;
    if (edit.kind === "pull") Y.applyUpdate(doc, Y.encodeStateAsUpdate(from), "pull");
    else doc.transact(() => apply(doc, edit));
  }
  return updates;
}

type Root = readonly [root: string, type: SharedType];

const ROOTS: readonly Root[] = [
  ["text", "text"],
  ["map", "map"],
  ["list", "array"],
];

const show = (update: Uint8Array, [root, type]: Root, maxLength: number | null = null) =>
  renderContent(update, { root, type, maxLength });

/** A value in the form in which it is sent. */
const jsonOf = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === "bigint") return `${part}`;
      return part instanceof Uint8Array ? bytesToBase64(part) : part;
    }),
  );

function expectAsInYjs(updates: readonly Uint8Array[], roots: readonly Root[]): void {
  for (const [root, type] of roots) {
    const doc = new Y.Doc();
    for (const update of updates) Y.applyUpdate(doc, update);
    const shared = sharedTypeOf(doc, type, root);
    const built = type === "map" || type === "array" ? shared.toJSON() : shared.toString();
    expect(jsonOf(show(mergeMany(updates), [root, type]).content)).toEqual(jsonOf(built));
  }
}

/** The updates except the missing positions, rotated. */
const someOf = <T>(items: readonly T[], missing: ReadonlySet<number>, turn: number): T[] => {
  const kept = items.filter((_, index) => !missing.has(index));
  return [...kept.slice(turn % (kept.length || 1)), ...kept.slice(0, turn % (kept.length || 1))];
};

describe("the content of a document (D27)", () => {
  it("is what Yjs shows of the edits of several clients, in whatever order they arrive", () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 40 }), fc.nat(), (edits, turn) => {
        const updates = updatesOf(edits).map(({ update }) => update);
        fc.pre(updates.length > 0);
        expectAsInYjs(someOf(updates, new Set(), turn), ROOTS);
      }),
      { numRuns: 150 },
    );
  });

  it("is without what depends on missing edits", () => {
    fc.assert(
      fc.property(
        fc.array(edit, { minLength: 2, maxLength: 30 }),
        fc.uniqueArray(fc.nat({ max: 29 }), { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (edits, missing, turn) => {
          const updates = someOf(
            updatesOf(edits).map(({ update }) => update),
            new Set(missing),
            turn,
          );
          fc.pre(updates.length > 0);
          expectAsInYjs(updates, ROOTS);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is what Yjs shows of XML with attributes, formats and embedded values, and of types in types", () => {
    fc.assert(
      fc.property(fc.array(richEdit, { minLength: 1, maxLength: 40 }), fc.nat(), (edits, turn) => {
        const updates = richUpdatesOf(edits);
        fc.pre(updates.length > 0);
        expectAsInYjs(someOf(updates, new Set(), turn), [
          ["xml", "xml"],
          ["map", "map"],
          ["list", "array"],
        ]);
      }),
      { numRuns: 150 },
    );
  });

  it("keeps both halves of a character apart between which someone wrote, as Yjs does", () => {
    const [ada, bo] = [new Y.Doc(), new Y.Doc()];
    ada.getText("text").insert(0, "a✨b🐝c");
    Y.applyUpdate(bo, Y.encodeStateAsUpdate(ada));
    bo.getText("text").insert(4, "|");
    bo.getText("text").delete(0, 1);
    expectAsInYjs([Y.encodeStateAsUpdate(ada), Y.encodeStateAsUpdate(bo)], [["text", "text"]]);
  });

  it("is cut off where it is asked to, and says so: text between characters, and XML with its tags closed", () => {
    const doc = new Y.Doc();
    doc.getText("text").insert(0, "ab🐝cd");
    doc.getArray("list").push([1, "two", { three: 3 }, 4]);
    const [element, inner] = [new Y.XmlElement("p"), new Y.XmlText("long text")];
    inner.format(0, 4, { b: {} });
    element.insert(0, [inner]);
    doc.getXmlFragment("xml").insert(0, [element]);
    const update = Y.encodeStateAsUpdate(doc);
    const cut = (root: Root, length: number) => {
      const { content, isTruncated } = show(update, root, length);
      return [content, isTruncated];
    };
    expect(cut(["text", "text"], 3)).toEqual(["ab", true]);
    expect(cut(["text", "text"], 4)).toEqual(["ab🐝", true]);
    expect(cut(["text", "text"], 6)).toEqual(["ab🐝cd", false]);
    expect(cut(["xml", "xml"], 20)).toEqual(["<p><b>long</b> t</p>", true]);
    expect(cut(["list", "array"], 12)).toEqual([[1, "two"], true]);
    expect(show(update, ["text", "text"]).types).toEqual([
      { name: "list", type: "array" },
      { name: "text", type: "text" },
      { name: "xml", type: "xml" },
    ]);
  });

  it("is refused when it is too long to be sent whole, or nested too deeply, but not its beginning", () => {
    const doc = new Y.Doc();
    const text = new Y.XmlText("one two three");
    doc.getXmlFragment("xml").insert(0, [text]);
    for (const at of [3, 6, 9]) text.insertEmbed(at, { image: at });
    text.format(0, text.length, { mark: { note: "x".repeat(DOCUMENT_LIMITS.shownLength / 5) } });
    let map = doc.getMap("map");
    doc.transact(() => {
      for (let depth = 0; depth < 1_000; depth += 1) map = map.set("in", new Y.Map());
    });
    const update = Y.encodeStateAsUpdate(doc);
    expect(() => show(update, ["xml", "xml"])).toThrow("ask for its beginning with maxLength");
    expect(show(update, ["xml", "xml"], 20)).toMatchObject({ content: "one", isTruncated: true });
    expect(() => show(update, ["map", "map"])).toThrow("nested too deeply");
    expect(JSON.stringify(show(update, ["map", "map"], DOCUMENT_LIMITS.shownLength).content)).toMatch(
      /^(\{"in":){200}/,
    );
  });

  it("is refused of a document that has too many bytes or items to be built", () => {
    const [large, scattered] = [new Y.Doc(), new Y.Doc()];
    large.getText("text").insert(0, "x".repeat(DOCUMENT_LIMITS.builtBytes));
    const texts = Array.from({ length: DOCUMENT_LIMITS.builtItems / 2 + 1 }, () => new Y.Text());
    scattered.getArray("list").insert(0, texts);
    for (const doc of [large, scattered])
      expect(() => show(Y.encodeStateAsUpdate(doc), ["text", "text"])).toThrow(
        "is neither shown, edited, compared",
      );
  });
});
