/** A document at two points of its history, built once. */

import { AppError } from "@atrium/contract/errors.ts";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../platform/crypto/encoding.ts";
import type { Author } from "../../types/documents.ts";
import { type Attribution, type Authored, attribute } from "../history/attribution.ts";
import { BuiltDocument, type Items, itemsOf, jsonOf } from "../updates/built-document.ts";
import { RangeMap } from "../updates/ranges.ts";
import { ShownFormats, ShownText, shownValue, TagBudget } from "./shown-text.ts";

export type Point = "before" | "after";

/** A part of an item with one fate. Offsets are within the item. */
export interface Piece {
  readonly op: "keep" | "insert" | "delete";
  readonly start: number;
  readonly end: number;
  /** The authors; none for kept parts, or if they are unknown. */
  readonly authors: readonly Author[];
}

export class ComparedDocument {
  readonly doc: Y.Doc;
  /** The clocks of the first point. */
  readonly stateBefore: ReadonlyMap<number, number>;
  readonly tags = new TagBudget();
  readonly #attribution: Attribution;
  /** Tells whether an operation was shown at the first point; undefined for later ones. */
  readonly #shown = new RangeMap<boolean>();

  /** Builds the document after `before`, then after `since`. CONFLICT when it is too large to be built. */
  constructor(before: readonly Uint8Array[], since: readonly Authored[]) {
    const built = new BuiltDocument(
      before,
      since.map(({ data }) => data),
    );
    this.doc = built.doc;
    this.stateBefore = this.#rememberShown();
    built.applyLater();
    this.#attribution = attribute(before, since);
  }

  #rememberShown(): ReadonlyMap<number, number> {
    const { ds, sv } = Y.snapshot(this.doc);
    for (const [client, deleted] of ds.clients)
      for (const { clock, len } of deleted)
        this.#shown.fill({ client, start: clock, end: clock + len }, false);
    for (const [client, end] of sv) this.#shown.fill({ client, start: 0, end }, true);
    return sv;
  }

  /** The parts of an item that were shown at either point, in their order. */
  *pieces({ id: { client, clock }, length, deleted }: Y.Item): Generator<Piece> {
    const authors = deleted ? this.#attribution.deleted : this.#attribution.inserted;
    for (let at = clock; at < clock + length; ) {
      const [was, by] = [this.#shown.at(client, at), authors.at(client, at)];
      const end = Math.min(clock + length, was.end, by.end);
      const piece = { start: at - clock, end: end - clock, authors: by.value ?? [] };
      if (was.value !== true && !deleted) yield { ...piece, op: "insert" };
      else if (was.value === true)
        yield deleted ? { ...piece, op: "delete" } : { ...piece, op: "keep", authors: [] };
      at = end;
    }
  }

  /** The authors by whom an item of one operation came or went; none if it did neither. */
  authorsOf(item: Y.Item): readonly Author[] {
    return [...this.pieces(item)][0]?.authors ?? [];
  }

  /** The map entries, or attributes of an element, at a point. */
  entries(type: Items, point: Point): Map<string, Y.Item> {
    const entries = new Map<string, Y.Item>();
    for (const [key, latest] of type._map) {
      let item: Y.Item | null = latest;
      while (item !== null && !this.#shows(item, point)) item = item.left;
      if (item !== null) entries.set(key, item);
    }
    return entries;
  }

  #shows({ id, deleted }: Y.Item, point: Point): boolean {
    return point === "after" ? !deleted : this.#shown.at(id.client, id.clock).value === true;
  }
}

/** Types within types: the answer is built by recursion. */
const MAX_DEPTH = 200;

export function requireDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new AppError("Rooms", "CONFLICT", `The document is nested more than ${MAX_DEPTH} levels deep`);
}

function plainValues(content: Y.Item["content"]): readonly unknown[] {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr;
  if (content instanceof Y.ContentEmbed) return [content.embed];
  if (content instanceof Y.ContentBinary) return [bytesToBase64(content.content)];
  if (content instanceof Y.ContentDoc) return [{ guid: content.doc.guid }];
  return [null];
}

/** The value of an item at a point: of its operation with this offset. */
export function valueAt(
  points: ComparedDocument,
  { content }: Y.Item,
  offset: number,
  point: Point,
  depth: number,
): unknown {
  if (content instanceof Y.ContentType) return typeAt(points, content.type, point, depth + 1);
  return JSON.parse(jsonOf(plainValues(content)[offset]) ?? "null");
}

/** The value of an item's operation as it is stored: of a type, its kind. Other values can have the same JSON. */
export function storedValue({ content }: Y.Item, offset: number): string {
  const encoder = new Y.UpdateEncoderV1();
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON)
    encoder.writeAny(content.arr[offset]);
  else content.write(encoder, 0);
  return `${content.getRef()} ${bytesToBase64(encoder.toUint8Array())}`;
}

function typeAt(points: ComparedDocument, type: Items, point: Point, depth: number): unknown {
  requireDepth(depth);
  if (type instanceof Y.Map) {
    const entries = [...points.entries(type, point)];
    return Object.fromEntries(
      entries.map(([key, item]) => [key, valueAt(points, item, item.length - 1, point, depth)]),
    );
  }
  if (type instanceof Y.Array)
    return [...itemsOf(type)].flatMap((item) => [...shownValues(points, item, point, depth)]);
  const inner = textAt(points, type, point, depth);
  if (type instanceof Y.XmlElement)
    return `${openingTag(points, type, point, depth)}${inner}${closingTag(type)}`;
  const attributes = attributesAt(points, type, point, depth);
  return attributes === "" ? inner : `<text${attributes}>${inner}</text>`;
}

/** The content of a text, or of an element, with its formats and embedded values. */
function textAt(points: ComparedDocument, type: Items, point: Point, depth: number): string {
  const [shown, formats] = [new ShownText(), new ShownFormats()];
  for (const item of itemsOf(type)) {
    const { content } = item;
    if (content instanceof Y.ContentFormat) {
      if (shownPieces(points, item, point).length > 0) formats.pass(content);
      continue;
    }
    const isText = content instanceof Y.ContentString || content instanceof Y.ContentType;
    for (const value of shownValues(points, item, point, depth))
      if (isText && typeof value === "string") shown.add(value, formats.tags(points.tags));
      else shown.addValue(JSON.stringify(value), formats.tags(points.tags));
  }
  return shown.xml ?? "";
}

const shownPieces = (points: ComparedDocument, item: Y.Item, point: Point): Piece[] => {
  const gone = point === "after" ? "delete" : "insert";
  return [...points.pieces(item)].filter(({ op }) => op !== gone);
};

function* shownValues(
  points: ComparedDocument,
  item: Y.Item,
  point: Point,
  depth: number,
): Generator<unknown> {
  const { content } = item;
  if (content instanceof Y.ContentFormat) return;
  for (const { start, end } of shownPieces(points, item, point))
    if (content instanceof Y.ContentString) yield content.str.slice(start, end);
    else
      for (let offset = start; offset < end; offset += 1) yield valueAt(points, item, offset, point, depth);
}

const nameOf = (element: Y.XmlElement): string => element.nodeName.toLocaleLowerCase();

export const openingTag = (
  points: ComparedDocument,
  element: Y.XmlElement,
  point: Point,
  depth = 0,
): string => `<${nameOf(element)}${attributesAt(points, element, point, depth)}>`;

function attributesAt(points: ComparedDocument, type: Items, point: Point, depth: number): string {
  const attributes = [...points.entries(type, point)].map(
    ([key, item]) => [key, valueAt(points, item, item.length - 1, point, depth)] as const,
  );
  const sorted = attributes.sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([key, value]) => ` ${key}="${shownValue(value)}"`).join("");
}

export const closingTag = (element: Y.XmlElement): string => `</${nameOf(element)}>`;
