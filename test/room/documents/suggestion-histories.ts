/** Random suggestions: a base, a fork of it, and editors who go on with the document meanwhile. */
import { expect } from "vitest";
import * as Y from "yjs";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
import {
  type Acceptance,
  acceptingUpdate,
  partsOf,
  type SuggestedPart,
} from "../../../src/room/documents/suggestions/suggestions.ts";
import { type Random, randomOf } from "../../support/random.ts";

const FIRST_CHARACTER = 0x4e00;
const LAST_CHARACTER = 0x9fff;
const CHARACTERS = /[\u4e00-\u9fff]/g;

/** The characters that tests wrote; each is written once. */
export const charactersOf = (text: string | null): string[] => text?.match(CHARACTERS) ?? [];

/** A copy of a document, as another client would have it. */
function copyOf(doc: Y.Doc, client: number, gc = true): Y.Doc {
  const copy = new Y.Doc({ gc });
  copy.clientID = client;
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
  return copy;
}

const paragraphsOf = (doc: Y.Doc): Y.XmlElement[] =>
  doc
    .getXmlFragment("xml")
    .toArray()
    .filter((child) => child instanceof Y.XmlElement);

const textIn = (element: Y.XmlElement | undefined): Y.XmlText | null => {
  const first = element?.length ? element.get(0) : null;
  return first instanceof Y.XmlText ? first : null;
};

/** All that a document shows, with its formats. */
export function contentOf(doc: Y.Doc) {
  return {
    text: doc.getText("text").toDelta() as unknown,
    xml: doc.getXmlFragment("xml").toString(),
    map: doc.getMap("map").toJSON(),
    list: doc.getArray("list").toJSON(),
  };
}

/** Without the order of the characters. */
const unordered = ({ map, text, xml, list }: ReturnType<typeof contentOf>) =>
  [text, xml, list, ...Object.entries(map).sort()].map((part) => [...JSON.stringify(part)].sort().join(""));

const unorderedIn = (doc: Y.Doc) => unordered(contentOf(doc));

const operationsOf = (doc: Y.Doc): number =>
  [...doc.store.clients.keys()].reduce((sum, client) => sum + Y.getState(doc.store, client), 0);

const shownIn = (doc: Y.Doc): ReadonlySet<string> => new Set(charactersOf(JSON.stringify(contentOf(doc))));

interface Letter {
  readonly isBold: boolean;
}

/** The characters of all texts with their formats. */
function lettersOf(doc: Y.Doc): Map<string, Letter> {
  const letters = new Map<string, Letter>();
  for (const text of [doc.getText("text"), ...paragraphsOf(doc).flatMap((each) => textIn(each) ?? [])])
    for (const { insert, attributes } of text.toDelta() as { insert: unknown; attributes?: object }[])
      for (const letter of charactersOf(typeof insert === "string" ? insert : ""))
        letters.set(letter, { isBold: Reflect.get(attributes ?? {}, "bold") === true });
  return letters;
}

/** How much a history had of what it is about. */
export interface Counts {
  parts: number;
  accepted: number;
  stale: number;
  formats: number;
  sets: number;
  /** Reviews that no later edit touched. */
  untouched: number;
}

export class SuggestionHistory {
  readonly counts: Counts = { parts: 0, accepted: 0, stale: 0, formats: 0, sets: 0, untouched: 0 };
  readonly #random: Random;
  #character = FIRST_CHARACTER;
  readonly #base: Y.Doc;
  readonly #fork: Y.Doc;
  readonly #current: Y.Doc;
  readonly #isWaiting: boolean;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    const [base, other] = [new Y.Doc(), new Y.Doc()];
    base.clientID = 1 + this.#random(1000);
    const isNarrow = this.#random(4) === 0;
    other.clientID = isNarrow ? base.clientID + 2 : 2000 + this.#random(1000);
    this.#fill(base);
    for (let step = 0; step < 6; step += 1) {
      this.#edit(step % 2 === 0 ? base : other);
      Y.applyUpdate(other, Y.encodeStateAsUpdate(base));
      Y.applyUpdate(base, Y.encodeStateAsUpdate(other));
    }
    this.#base = base;
    this.#fork = copyOf(
      base,
      isNarrow ? base.clientID + 1 : 1001 + this.#random(3000),
      this.#random(2) === 0,
    );
    for (let step = 1 + this.#random(8); step > 0; step -= 1) this.#edit(this.#fork);
    const editors = [copyOf(base, 5000), copyOf(base, 500)];
    for (let step = this.#random(6); step > 0; step -= 1) {
      const editor = editors[this.#random(2)];
      if (editor !== undefined) this.#edit(editor);
    }
    this.#current = copyOf(base, 7000, this.#random(2) === 0);
    for (const editor of editors) Y.applyUpdate(this.#current, Y.encodeStateAsUpdate(editor));
    this.#isWaiting = this.#random(4) === 0;
    if (this.#isWaiting) this.#lose();
  }

  /** Of what a client wrote, the fork gets all, and the document what follows on the lost beginning. */
  #lose(): void {
    const client = copyOf(this.#base, 6000);
    this.#edit(client);
    const lost = Y.encodeStateVector(client);
    for (let step = 1 + this.#random(2); step > 0; step -= 1) this.#edit(client);
    Y.applyUpdate(this.#fork, Y.encodeStateAsUpdate(client));
    Y.applyUpdate(this.#current, Y.encodeStateAsUpdate(client, lost));
  }

  /** Reviews the fork with a random choice of its parts, and checks the outcome. */
  check(): void {
    this.#checkWith(this.#current);
    this.#checkWith(this.#base);
  }

  #versions(current: Y.Doc) {
    const [base, fork] = [this.#base, this.#fork].map((doc) => Y.encodeStateAsUpdate(doc));
    return {
      base: base ?? new Uint8Array(),
      fork: fork ?? new Uint8Array(),
      current: Y.encodeStateAsUpdate(current),
      secret: `${this.#character}`,
    };
  }

  #checkWith(current: Y.Doc): void {
    const versions = this.#versions(current);
    const parts = partsOf(versions);
    const withoutState = (all: readonly SuggestedPart[]) => all.map(({ isStale: _, ...part }) => part);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
    expect(withoutState(parts)).toEqual(withoutState(partsOf({ ...versions, current: versions.base })));
    expect(acceptingUpdate(versions, new Set())).toBeNull();
    this.#checkStale(parts, current);
    this.#checkAll(parts, current);
    this.#checkSome(parts, current);
  }

  /**
   * Deletions of text are stale exactly when it went; of blocks, also when something came into them; the others only when
   * some of the base went or was set.
   */
  #checkStale(parts: readonly SuggestedPart[], current: Y.Doc): void {
    if (this.#isWaiting) return; // what waits makes parts stale, and is not shown
    const shown = shownIn(current);
    const [was, is] = [this.#base, current].map(contentOf);
    for (const { kind, before, after, isStale } of parts) {
      const letters = charactersOf(before);
      if (
        letters.length > 0 &&
        !`${before}${after}`.includes("<") &&
        (kind === "delete" || kind === "replace")
      )
        expect(isStale).toBe(letters.every((letter) => !shown.has(letter)));
      // A key may be set and deleted again.
      if (isStale && kind !== "set") expect(is).not.toEqual(was);
    }
  }

  #checkAll(parts: readonly SuggestedPart[], current: Y.Doc): void {
    const versions = this.#versions(current);
    this.counts.parts += parts.length;
    if (parts.some(({ isStale }) => isStale)) {
      expect(() => acceptingUpdate(versions, "all")).toThrow("has changed where part");
      return;
    }
    const all = acceptingUpdate(versions, "all");
    const each = acceptingUpdate(versions, new Set(parts.map(({ id }) => id)));
    if (parts.length === 0) {
      expect([all, each]).toEqual([null, null]);
      return;
    }
    const [merged, accepted, named] = [copyOf(current, 8000), copyOf(current, 8001), copyOf(current, 8002)];
    Y.applyUpdate(merged, versions.fork);
    if (all !== null) Y.applyUpdate(accepted, all.update);
    if (each !== null) Y.applyUpdate(named, each.update);
    expect(unorderedIn(named)).toEqual(unorderedIn(accepted));
    // What is in no part stays out, and could only take the place of a key of others: one that the fork set and deleted.
    const merge = contentOf(merged);
    const { map } = merge;
    for (const key of ["a", "b"])
      if (!parts.some(({ root, path }) => root === "map" && path[0] === key)) {
        delete map[key];
        if (current.getMap("map").has(key)) map[key] = current.getMap("map").get(key);
      }
    // By other client IDs, what was written at one place at once may have another order.
    expect(unorderedIn(accepted)).toEqual(unordered(merge));
    const written = operationsOf(this.#fork) - operationsOf(this.#base);
    expect(operationsOf(accepted)).toBe(operationsOf(current) + written);
    if (current === this.#base) expect(contentOf(accepted)).toEqual(contentOf(this.#fork));
  }

  #checkSome(parts: readonly SuggestedPart[], current: Y.Doc): void {
    const isAccepted = (part: SuggestedPart) => ids.has(part.id);
    const ids = new Set(parts.filter(({ isStale }) => !isStale && this.#random(2) === 0).map(({ id }) => id));
    this.counts.stale += parts.filter(({ isStale }) => isStale).length;
    this.counts.accepted += ids.size;
    const outcome = acceptingUpdate(this.#versions(current), ids);
    if (outcome === null) {
      expect(ids.size).toBe(0);
      return;
    }
    const result = copyOf(current, 9000, false);
    Y.applyUpdate(result, outcome.update);
    this.#checkAgreement(result, current, outcome.update);
    this.#checkShown(parts.filter(isAccepted), current, result);
    this.#checkKeys(parts, isAccepted, result, current);
    if (current === this.#base) this.#checkFormats(parts, isAccepted, result);
    this.#checkLater(parts.filter(isAccepted), current, outcome);
  }

  /** The result shows what the document showed without what these parts delete, and what they insert. */
  #checkShown(accepted: readonly SuggestedPart[], current: Y.Doc, result: Y.Doc): void {
    const [shown, expected] = [shownIn(result), new Set(shownIn(current))];
    for (const { kind, before, after } of accepted) {
      if (kind === "format") continue;
      for (const letter of charactersOf(before)) expected.delete(letter);
      for (const letter of charactersOf(after)) expected.add(letter);
    }
    expect([...expected].filter((letter) => !shown.has(letter))).toEqual([]);
    expect([...shown].filter((letter) => !expected.has(letter))).toEqual([]);
  }

  /** Edits that came since and do not touch the accepted parts leave the review as it is. */
  #checkLater(accepted: readonly SuggestedPart[], current: Y.Doc, outcome: Acceptance): void {
    const late = copyOf(current, 7500, this.#random(2) === 0);
    const known = Y.encodeStateVector(current);
    for (let step = 1 + this.#random(2); step > 0; step -= 1) this.#edit(late);
    // The author's own client may write into the document as well.
    if (this.#random(4) === 0) Y.applyUpdate(late, Y.encodeStateAsUpdate(this.#fork));
    const news = Y.encodeStateAsUpdate(late, known);
    if (outcome.isFragile || isOvertaken(outcome.guard, [news])) return;
    this.counts.untouched += 1;
    const ids = new Set(accepted.map(({ id }) => id));
    const then = partsOf(this.#versions(late)).filter(({ id }) => ids.has(id));
    expect(then.filter(({ isStale }) => isStale)).toEqual([]);
    const result = copyOf(late, 9100);
    Y.applyUpdate(result, outcome.update);
    this.#checkShown(accepted, late, result);
  }

  #checkAgreement(result: Y.Doc, current: Y.Doc, update: Uint8Array): void {
    const late = copyOf(this.#base, 9001);
    Y.applyUpdate(late, update);
    Y.applyUpdate(late, Y.encodeStateAsUpdate(current));
    expect(contentOf(late)).toEqual(contentOf(result));
    const later = copyOf(result, 9002);
    expect(contentOf(later)).toEqual(contentOf(result));
  }

  /** JSON of a document has no formats. */
  #checkKeys(
    parts: readonly SuggestedPart[],
    isAccepted: (part: SuggestedPart) => boolean,
    result: Y.Doc,
    current: Y.Doc,
  ): void {
    const [expected, map]: Record<string, unknown>[] = [current, result].map((doc) =>
      doc.getMap("map").toJSON(),
    );
    if (expected === undefined || map === undefined) throw new Error("A map is missing");
    let isNestedSet = false;
    for (const part of parts) {
      const key = part.path[0];
      if (part.root !== "map" || part.kind !== "set" || typeof key !== "string") continue;
      this.counts.sets += 1;
      if (!isAccepted(part)) continue;
      isNestedSet ||= key === "nested";
      if (part.after === null) delete expected[key];
      else expected[key] = JSON.parse(part.after.replaceAll(/<.*?>/g, ""));
    }
    // Its text has parts of its own, unless it is replaced.
    if (!isNestedSet) expected.nested = map.nested;
    expect(map).toEqual(expected);
  }

  /** Where no one else has written, unchanged text has the format of the base, or of the fork where that is accepted. */
  #checkFormats(
    parts: readonly SuggestedPart[],
    isAccepted: (part: SuggestedPart) => boolean,
    result: Y.Doc,
  ): void {
    const [base, fork, is] = [this.#base, this.#fork, result].map(lettersOf);
    const formatted = new Map<string, boolean>();
    for (const part of parts) {
      if (part.kind !== "format") continue;
      this.counts.formats += 1;
      for (const letter of charactersOf(part.after)) formatted.set(letter, isAccepted(part));
    }
    const isOtherwise = ([letter, was]: [string, Letter]) => {
      const [then, now] = [fork?.get(letter), is?.get(letter)];
      const expected = formatted.get(letter) ? then : was;
      return then !== undefined && now !== undefined && now.isBold !== expected?.isBold;
    };
    expect([...(base ?? [])].filter(isOtherwise)).toEqual([]);
  }

  #write(length = 1 + this.#random(4)): string {
    let text = "";
    for (let left = length; left > 0; left -= 1) {
      text += String.fromCharCode(this.#character);
      this.#character += 1;
    }
    if (this.#character > LAST_CHARACTER) throw new Error("The history has no character left");
    return text;
  }

  #fill(doc: Y.Doc): void {
    doc.getText("text").insert(0, this.#write(12));
    doc.getXmlFragment("xml").insert(
      0,
      Array.from({ length: 4 }, () => this.#block("paragraph", this.#write(6))),
    );
    doc.getMap("map").set("a", this.#write());
    doc.getMap("map").set("nested", new Y.Text(this.#write(5)));
    doc.getArray("list").push([this.#write(), this.#write(), this.#write()]);
  }

  #block(name: string, text: string): Y.XmlElement {
    const element = new Y.XmlElement(name);
    element.insert(0, [new Y.XmlText(text)]);
    if (name === "heading") element.setAttribute("level", "1");
    return element;
  }

  #edit(doc: Y.Doc): void {
    const kind = this.#random(12);
    doc.transact(() => {
      if (kind < 6) this.#editText(this.#textOf(doc));
      else if (kind < 10) this.#editBlocks(doc);
      else if (kind === 10) this.#editMap(doc.getMap("map"));
      else this.#editList(doc.getArray("list"));
    });
  }

  #textOf(doc: Y.Doc): Y.Text {
    const nested = doc.getMap("map").get("nested");
    const texts = [
      doc.getText("text"),
      ...paragraphsOf(doc).flatMap((each) => textIn(each) ?? []),
      ...(nested instanceof Y.Text ? [nested] : []),
    ];
    return texts[this.#random(texts.length)] ?? doc.getText("text");
  }

  #editText(text: Y.Text): void {
    const at = this.#random(text.length + 1);
    const length = Math.min(1 + this.#random(4), text.length - at);
    const kind = this.#random(8);
    if (kind < 3) text.insert(at, this.#write());
    else if (kind === 3)
      text.insert(at, this.#write(), this.#random(2) === 0 ? { bold: true } : { bold: null });
    else if (length === 0) text.insert(at, this.#write());
    else if (kind < 6) text.delete(at, length);
    else if (kind === 6) text.format(at, length, { bold: this.#random(3) === 0 ? null : true });
    else {
      text.insert(at, this.#write());
      text.delete(at, 1);
    }
  }

  /** As an editor for ProseMirror would write them. */
  #editBlocks(doc: Y.Doc): void {
    const [xml, blocks] = [doc.getXmlFragment("xml"), paragraphsOf(doc)];
    const at = this.#random(blocks.length);
    const [block, next] = [blocks[at], blocks[at + 1]];
    const text = textIn(block);
    switch (this.#random(6)) {
      case 0:
        xml.insert(this.#random(xml.length + 1), [this.#block("paragraph", this.#write())]);
        break;
      case 1:
        if (blocks.length > 1) xml.delete(at, 1);
        break;
      case 2: {
        if (text === null) break;
        const cut = this.#random(text.length + 1);
        if (cut < text.length) text.delete(cut, text.length - cut);
        xml.insert(at + 1, [this.#block("paragraph", this.#write())]);
        break;
      }
      case 3:
        if (text === null || next === undefined) break;
        text.insert(text.length, this.#write());
        xml.delete(at + 1, 1);
        break;
      case 4:
        if (block === undefined) break;
        xml.delete(at, 1);
        xml.insert(at, [this.#block("heading", this.#write())]);
        break;
      default:
        block?.setAttribute("align", this.#write(1));
    }
  }

  #editMap(map: Y.Map<unknown>): void {
    const key = this.#random(2) === 0 ? "a" : "b";
    const kind = this.#random(4);
    if (kind === 0) map.delete(key);
    else if (kind === 1) map.set("nested", new Y.Text(this.#write()));
    else map.set(key, this.#write());
  }

  #editList(list: Y.Array<unknown>): void {
    const at = this.#random(list.length + 1);
    if (at < list.length && this.#random(2) === 0) list.delete(at, 1);
    else list.insert(at, [this.#write()]);
  }
}
