/** The kinds of edits: the operations that each relies on, and how it changes the text. */
import { EDIT_LIMITS } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { type Items, itemsOf } from "../updates/built-document.ts";
import type { ClockRange } from "../updates/ranges.ts";
import { differing } from "./differing.ts";
import type { Position } from "./edited-document.ts";
import type { Block, BlockPlace, Format } from "./new-blocks.ts";
import { itemsWithin, type Stretch } from "./places.ts";
import { type TextContent, textAround } from "./text-content.ts";
import type { TextNode } from "./text-node.ts";

/** The operations that an edit relies on, as in its guard. */
interface Relied {
  readonly ranges: readonly Iterable<ClockRange>[];
  readonly interiors: Iterable<ClockRange>;
  readonly begun: ReturnType<TextNode["begun"]>;
}

/** A place for new blocks, with the quotation beside it. */
export interface FoundBlockPlace {
  readonly place: BlockPlace;
  readonly quoted: Stretch | null;
}

/** An edit with its place found. */
export interface Step {
  /** Null for new blocks. */
  readonly stretch: Stretch | null;
  /** Nothing else may be written inside of its stretch. */
  readonly isDeleting: boolean;
  /** The operations that it relies on, before it is applied; see {@link EditGuard}. */
  relied(): Relied;
  apply(): void;
  /** The text around its place in the content that its text has after all edits. */
  shown(contentOf: (node: TextNode) => TextContent): string;
  /** The text that it has written, and the index behind; null without a text. */
  written(): { readonly type: Y.Text; readonly index: number } | null;
}

const textOf = ({ node, start, end }: Stretch): string => node.content.text.slice(start, end);

const shownAt = ({ text }: TextContent, { node, index }: Position): string =>
  textAround(text, node.present(index), EDIT_LIMITS.shownText);

function* charactersOf(stretch: Stretch): Generator<ClockRange> {
  for (const { item, from, to } of itemsWithin(stretch))
    if (!item.deleted && item.countable) yield { client: item.id.client, start: from, end: to };
}

/** All operations of a stretch but its first. */
function* interiorOf(stretch: Stretch): Generator<ClockRange> {
  let isFirst = true;
  for (const { item, from, to } of itemsWithin(stretch)) {
    const range = { client: item.id.client, start: isFirst ? from + 1 : from, end: to };
    if (range.end > range.start) yield range;
    isFirst = false;
  }
}

const reliedOf = (stretch: Stretch): Relied => ({
  ranges: [stretch.node.containers(), charactersOf(stretch)],
  interiors: interiorOf(stretch),
  begun: stretch.node.begun(),
});

export function insertStep(
  { node, index, quoted }: Position & { readonly quoted: Stretch | null },
  text: string,
  format: Format,
): Step {
  return {
    stretch: { node, start: index, end: index },
    isDeleting: false,
    relied: () => ({
      ranges: [node.containers(), quoted === null ? [] : charactersOf(quoted)],
      interiors: [],
      begun: node.begun(),
    }),
    apply() {
      node.open().insert(node.present(index), text, format);
      node.shift(index, text.length);
    },
    shown: (contentOf) => shownAt(contentOf(node), { node, index }),
    written: () => ({ type: node.open(), index: node.present(index) }),
  };
}

export function blockStep(
  { place, quoted }: FoundBlockPlace,
  block: Block,
  paragraphs: readonly string[],
  format: Format,
  written: Map<unknown, Y.Item>,
): Step {
  let last: Y.XmlElement | undefined;
  return {
    stretch: null,
    isDeleting: false,
    relied: () => ({
      ranges: [place.containers(), quoted === null ? [] : charactersOf(quoted)],
      interiors: [],
      begun: place.begun(),
    }),
    apply() {
      last = place.write(block, paragraphs, format, written).at(-1);
    },
    shown: () => textAround(paragraphs[0] ?? "", 0, EDIT_LIMITS.shownText),
    written() {
      const type = last?.get(0);
      return type instanceof Y.XmlText ? { type, index: type.length } : null;
    },
  };
}

export function formatStep(stretch: Stretch, format: NonNullable<Format>): Step {
  const { node, start, end } = stretch;
  return {
    stretch,
    isDeleting: false,
    relied: () => reliedOf(stretch),
    apply() {
      const at = node.present(start);
      // An insertion at the end is no part of the stretch.
      if (start < end) node.open().format(at, node.present(end - 1) + 1 - at, format);
    },
    shown: (contentOf) => shownAt(contentOf(node), { node, index: end }),
    written: () => null,
  };
}

/** Keeps the words that the old and the new text begin and end with, so that cursors and typing in them survive. */
export function replaceStep(stretch: Stretch, replacement: string): Step {
  const { node } = stretch;
  const { content } = node;
  const old = textOf(stretch);
  const change = differing(old, replacement);
  const [start, end] = [stretch.start + change.start, stretch.start + change.end];
  return {
    stretch,
    isDeleting: true,
    relied: () => reliedOf(stretch),
    apply() {
      if (change.text === "" && start === end) return;
      const type = node.open();
      const at = node.present(stretch.start) + change.start;
      // Within what it replaces, so that anchors at both ends hold the new text.
      const first = content.whole(start + 1) > start ? 1 : 2;
      const before = end - start > first ? first : 0;
      if (change.text !== "") type.insert(at + before, change.text, formatOf(type, at));
      if (end > start) type.delete(at + before + change.text.length, end - start - before);
      if (before > 0) type.delete(at, before);
      node.shift(stretch.end, change.text.length - (end - start));
    },
    shown: (contentOf) => shownAt(contentOf(node), { node, index: stretch.end }),
    written: () => ({ type: node.open(), index: node.present(stretch.end) }),
  };

  /** As of the first character that is replaced; of the one before, or else behind, where none is. */
  function formatOf(type: Items, at: number): Format {
    if (stretch.start === stretch.end) return undefined;
    return formatsAt(type, end > start || change.start === 0 ? at : at - 1);
  }
}

/** The formats of a character. */
function formatsAt(type: Items, index: number): NonNullable<Format> {
  const formats = new Map<string, unknown>();
  let left = index;
  for (const { content, deleted, countable, length } of itemsOf(type)) {
    if (deleted) continue;
    if (content instanceof Y.ContentFormat) formats.set(content.key, content.value);
    if (!countable) continue;
    if (left < length) break;
    left -= length;
  }
  return Object.fromEntries([...formats].filter(([, value]) => value !== null)) as NonNullable<Format>;
}
