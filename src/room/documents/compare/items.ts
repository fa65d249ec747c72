/** Reads the items of a document at one of two points, as JSON. */
import * as Y from "yjs";
import { bytesToBase64 } from "../../../platform/crypto/encoding.ts";
import { AppError } from "../../../platform/errors.ts";
import { writtenAs } from "../content/formats.ts";
import { type Items, itemsOf } from "../updates/built-document.ts";
import type { Point, TwoPoints } from "./two-points.ts";

/** Types within types: the answer is built by recursion. */
const MAX_DEPTH = 200;

export function requireDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new AppError("Rooms", "CONFLICT", `The document is nested more than ${MAX_DEPTH} levels deep`);
}

/** Values without a shared type. */
function plainValues(content: Y.Item["content"]): readonly unknown[] {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr;
  if (content instanceof Y.ContentEmbed) return [content.embed];
  if (content instanceof Y.ContentBinary) return [bytesToBase64(content.content)];
  return [null];
}

/** The value of an item at a point: of its operation with this offset. */
export function valueAt(
  points: TwoPoints,
  { content }: Y.Item,
  offset: number,
  point: Point,
  depth: number,
): unknown {
  if (content instanceof Y.ContentType) return typeAt(points, content.type, point, depth + 1);
  return jsonOf(plainValues(content)[offset]);
}

/** A value as JSON has it. */
const jsonOf = (value: unknown): unknown =>
  value === undefined
    ? null
    : JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part)));

function typeAt(points: TwoPoints, type: Items, point: Point, depth: number): unknown {
  requireDepth(depth);
  if (type instanceof Y.Map) {
    const entries = [...points.entries(type, point)];
    return Object.fromEntries(
      entries.map(([key, item]) => [key, valueAt(points, item, item.length - 1, point, depth)]),
    );
  }
  const values = [...itemsOf(type)].flatMap((item) => shownValues(points, item, point, depth));
  if (type instanceof Y.Array) return values;
  const inner = values.filter((value) => typeof value === "string").join("");
  return type instanceof Y.XmlElement
    ? `${openingTag(points, type, point)}${inner}${closingTag(type)}`
    : inner;
}

function shownValues(points: TwoPoints, item: Y.Item, point: Point, depth: number): unknown[] {
  const { content } = item;
  if (content instanceof Y.ContentFormat) return [];
  const gone = point === "after" ? "delete" : "insert";
  return [...points.pieces(item)].flatMap(({ op, start, end }) => {
    if (op === gone) return [];
    if (content instanceof Y.ContentString) return [content.str.slice(start, end)];
    return Array.from({ length: end - start }, (_, index) =>
      valueAt(points, item, start + index, point, depth),
    );
  });
}

const nameOf = (element: Y.XmlElement): string => element.nodeName.toLocaleLowerCase();

/** The opening tag, as Yjs writes it. */
export function openingTag(points: TwoPoints, element: Y.XmlElement, point: Point): string {
  const attributes = [...points.entries(element, point)].map(
    ([key, item]) => [key, valueAt(points, item, item.length - 1, point, 0)] as const,
  );
  const sorted = attributes.sort(([one], [other]) => (one < other ? -1 : 1));
  return `<${[nameOf(element), ...sorted.map(([key, value]) => `${key}="${writtenAs(value)}"`)].join(" ")}>`;
}

export const closingTag = (element: Y.XmlElement): string => `</${nameOf(element)}>`;
