/** Resolves the places of edits in a document as it was read. */
import { EDIT_LIMITS, type Place } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { base64ToBytes } from "../../../platform/crypto/encoding.ts";
import type { ChangesOfOthers } from "./changes-of-others.ts";
import {
  type AnchoredPosition,
  badRequest,
  conflict,
  type EditedDocument,
  type Position,
  type Spot,
  shown,
} from "./edited-document.ts";
import { findPiece, Pattern } from "./quotation.ts";
import type { TextNode } from "./text-node.ts";

/** A part of one text, by indices as Yjs counts; `end` is exclusive. */
export interface Stretch {
  readonly node: TextNode;
  readonly start: number;
  readonly end: number;
}

const isQuote = (at: Place): at is Extract<Place, { quote: string }> =>
  typeof at === "object" && "quote" in at;

/** Operations of one item; `to` is exclusive. */
interface ItemRange {
  readonly item: Y.Item;
  readonly from: number;
  readonly to: number;
}

/**
 * The stretch of an edit that deletes, replaces or formats. CONFLICT when others have changed it since it was read, or
 * nothing of it is left; BAD_REQUEST for anchors without what was read, unless it `isFormatting`.
 */
export function findStretch(
  document: EditedDocument,
  at: Place,
  others: ChangesOfOthers | null,
  isFormatting: boolean,
): Stretch {
  if (isQuote(at)) return findQuote(document, at);
  if (typeof at === "string" || at.end === undefined)
    throw badRequest("the edit needs a stretch: a quotation, or an anchor with its end");
  if (others === null && !isFormatting)
    throw badRequest(
      "send the `base` of the blocks that you have read, so that nothing newer is written over",
    );
  const start = find(document, at.anchor);
  const end = find(document, at.end);
  if (start.node !== end.node || start.index > end.index)
    throw badRequest("the end must stand in the same text as the anchor, and not before it");
  const stretch = { node: start.node, start: start.index, end: end.index };
  if (others !== null) requireRead(stretch, itemsBetween(start.node, start.spot, end.spot), others);
  if (start.index === end.index && (isDeleted(start.spot) || isDeleted(end.spot)))
    throw conflict(
      `the stretch was deleted; at its place stands ${shown(start.node.content.text, start.index)}`,
    );
  if (start.node.content.runsBetween(stretch.start, stretch.end).some(({ item }) => !isDeletable(item)))
    throw conflict("the stretch has values that belong into no text");
  return stretch;
}

/** The position at which an edit inserts. CONFLICT when there is no text for it. */
export function findPosition(
  document: EditedDocument,
  at: Place,
): Position & { readonly quoted: Stretch | null } {
  if (isQuote(at)) {
    const quoted = findQuote(document, at);
    return { node: quoted.node, index: at.side === "before" ? quoted.start : quoted.end, quoted };
  }
  if (typeof at === "object") return { ...find(document, at.anchor), quoted: null };
  const node = document.writableNode(at);
  if (node === undefined)
    throw conflict("the document has no block yet; send `block`, such as a paragraph, to make one");
  return { node, index: at === "start" ? node.start : node.content.text.length, quoted: null };
}

const find = (document: EditedDocument, anchor: string): AnchoredPosition =>
  document.find(base64ToBytes(anchor));

function findQuote(
  { nodes }: EditedDocument,
  { quote, before = "", after = "" }: Extract<Place, { quote: string }>,
): Stretch {
  const whole = before + quote + after;
  const pattern = new Pattern(whole);
  let count = 0;
  let found: Stretch | null = null;
  for (const node of nodes) {
    const match = pattern.search(node.content.text);
    count += match.count;
    const end = match.end - after.length;
    if (match.count > 0) found ??= { node, start: end - quote.length, end };
  }
  if (found !== null && count === 1) return found;
  if (found !== null)
    throw conflict(
      `the quotation stands ${count} times, first in ${shown(found.node.content.text, found.start)}; add the text before or after it`,
    );
  throw conflict(
    `the quotation is not in the document any more${nearOf(
      nodes.map(({ content }) => content.text),
      quote,
      whole,
    )}`,
  );
}

/** The text with the largest piece of a quotation, or all of a short document. */
function nearOf(texts: readonly string[], quote: string, whole: string): string {
  const piece = findPiece(texts, quote) ?? findPiece(texts, whole);
  if (piece !== null) return `; near its place stands ${shown(texts[piece.node] ?? "", piece.index)}`;
  const all = texts.filter((text) => text !== "").join("\n");
  return all !== "" && all.length <= EDIT_LIMITS.shownText ? `; there stands ${shown(all, 0)}` : "";
}

/** Yjs deletes beyond the end of a stretch that has others. */
const isDeletable = ({ content }: Y.Item): boolean =>
  [Y.ContentString, Y.ContentEmbed, Y.ContentType].some((kind) => content instanceof kind);

/** CONFLICT for a stretch between two anchors in which others have written or deleted. */
function requireRead(
  { node, start, end }: Stretch,
  ranges: readonly ItemRange[],
  others: ChangesOfOthers,
): void {
  for (const { item, from, to } of ranges) {
    if (item.deleted && item.content instanceof Y.ContentFormat) continue;
    const { client } = item.id;
    const isChanged = item.deleted
      ? others.hasDeleted(client, from, to)
      : !others.inserted(client, from, to).next().done;
    if (isChanged)
      throw conflict(
        `the stretch was changed meanwhile; there stands ${shown(node.content.text, Math.floor((start + end) / 2))}`,
      );
  }
}

const isDeleted = (spot: Spot): boolean => typeof spot === "object" && spot.isDeleted;

/** The items between two anchors, deleted ones included; none when the second one is before the first. */
function itemsBetween({ type }: TextNode, first: Spot, last: Spot): ItemRange[] {
  if (first === "end" || last === "start") return [];
  const ranges: ItemRange[] = [];
  for (let item = first === "start" ? (type?._start ?? null) : first.item; item !== null; item = item.right) {
    const { clock } = item.id;
    const from = first !== "start" && item === first.item ? first.clock : clock;
    const to = last !== "end" && item === last.item ? last.clock : clock + item.length;
    if (to > from) ranges.push({ item, from, to });
    if (last !== "end" && item === last.item) return ranges;
  }
  return last === "end" ? ranges : [];
}

/** The items from the first to the last character of a stretch, deleted ones included, with their clocks in it. */
export function* itemsWithin({ node: { content }, start, end }: Stretch): Generator<ItemRange> {
  const [first, last] = [content.runAt(start), content.runAt(end - 1)];
  if (start >= end || first === undefined || last === undefined) return;
  for (let item: Y.Item | null = first.item; item !== null; item = item.right) {
    const { clock } = item.id;
    const from = item === first.item ? clock + start - first.index : clock;
    const to = item === last.item ? clock + end - last.index : clock + item.length;
    yield { item, from, to };
    if (item === last.item) return;
  }
}
