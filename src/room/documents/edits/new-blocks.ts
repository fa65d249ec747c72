/** Writes new blocks into XML, in the form in which editors keep them: they delete what their schema does not allow. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { Edit } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { entriesOf, valuesOf } from "../content/text-rendering.ts";
import { type Items, itemsOf, jsonOf } from "../updates/built-document.ts";
import type { ClockRange } from "../updates/ranges.ts";
import { badRequest, type EditedDocument } from "./edited-document.ts";
import { containersOf, rangeOf, type TextNode } from "./text-node.ts";

type Insert = Extract<Edit, { insert: string }>;
export type Block = NonNullable<Insert["block"]>;
export type Format = Insert["format"];
export type Side = "before" | "after";

/** An element to make: its name and its attributes. */
type Wrapper = readonly [name: string, attributes: readonly (readonly [string, unknown])[]];

/** Elements that hold several others: their content is continued beside one, not made again around a new one. */
const GROUPS = new Set([
  "blockGroup",
  "bulletList",
  "orderedList",
  "taskList",
  "table",
  "tableRow",
  "tableCell",
  "tableHeader",
  "columnList",
  "column",
]);
/** Elements whose first block has one kind, whatever follows it. */
const ITEMS = new Set(["listItem", "taskItem"]);
/** Around each block of BlockNote, whose nested blocks stand in it as well. */
const CONTAINER = "blockContainer";
const CONTAINER_GROUP = "blockGroup";

const isElement = (type: unknown): type is Y.XmlElement => type instanceof Y.XmlElement;
const nameOf = (type: unknown): string => (isElement(type) ? type.nodeName : "");
const shownItems = (type: Items): Y.Item[] => [...itemsOf(type)].filter(({ deleted }) => !deleted);
const typeIn = ({ content }: Y.Item): unknown => (content instanceof Y.ContentType ? content.type : null);

/** Whether an item, which is shown, is the only one. */
function isOnly(item: Y.Item | null, parent: Items): boolean {
  for (const other of itemsOf(parent)) if (!other.deleted && other !== item) return false;
  return true;
}

/** Beside a block. Further blocks follow those that were written at the same place. */
export class BlockPlace {
  readonly #parent: Y.XmlFragment;
  readonly #wrappers: readonly Wrapper[];
  /** The neighbor; null in an empty document. */
  readonly #beside: Y.Item | null;
  readonly #side: Side;
  /** The empty block at the end, which the first text fills. */
  readonly #empty: TextNode | null;

  private constructor(
    parent: Y.XmlFragment,
    wrappers: readonly Wrapper[],
    beside: Y.Item | null,
    side: Side,
    empty: TextNode | null = null,
  ) {
    this.#parent = parent;
    this.#wrappers = wrappers;
    this.#beside = beside;
    this.#side = side;
    this.#empty = empty;
  }

  /** Beside the block of a text, or as far outside of it as a block of this name may stand. */
  static beside(document: EditedDocument, node: TextNode, name: string, side: Side): BlockPlace {
    let child = blockOf(document, node);
    let wrappers: readonly Wrapper[] = [];
    for (;;) {
      const parent = child?.parent;
      if (!isElement(parent)) return new BlockPlace(document.root as Y.XmlFragment, wrappers, child, side);
      const [own, outer] = [nameOf(child && typeIn(child)), wrappers[0]?.[0] ?? name];
      const isAllowed =
        own === outer || (!ITEMS.has(parent.nodeName) && document.hasNesting(parent.nodeName, outer));
      const isUnit = parent.nodeName === CONTAINER || (!GROUPS.has(parent.nodeName) && isOnly(child, parent));
      if (isUnit) wrappers = isAllowed || parent.nodeName === CONTAINER ? [copyOf(parent), ...wrappers] : [];
      else if (isAllowed) return new BlockPlace(parent, wrappers, child, side);
      else wrappers = [];
      child = parent._item;
    }
  }

  /** Before the first, or after the last block of the document; in that one if it is empty, and of this name. */
  static atEdge(document: EditedDocument, name: string, isStart: boolean): BlockPlace {
    const { root } = document;
    const edge = (type: Items) => shownItems(type).at(isStart ? 0 : -1) ?? null;
    let [parent, beside] = [root as Y.XmlFragment, edge(root)];
    for (
      let inner = beside && typeIn(beside);
      nameOf(inner) === CONTAINER_GROUP;
      inner = beside && typeIn(beside)
    )
      [parent, beside] = [inner as Y.XmlFragment, edge(inner as Y.XmlFragment)];
    const isContained = nameOf(parent) === CONTAINER_GROUP;
    const side = isStart && beside !== null ? "before" : "after";
    const empty = isStart || beside === null ? null : emptyIn(document, beside, name);
    return new BlockPlace(parent, isContained ? [[CONTAINER, []]] : [], beside, side, empty);
  }

  /** The bytes of one new block beside its text, about as much as Yjs needs for it in memory. */
  weightOf(block: Block, format: Format): number {
    const around = this.#wrappers.map(([name, attributes]) => weightOf(name, attributes));
    const own = weightOf(block.name, Object.entries(block.attributes ?? {}));
    return [...around, own].reduce((sum, weight) => sum + weight, weightOf("", Object.entries(format ?? {})));
  }

  /** The empty element in which it begins a text. */
  begun(): ReturnType<TextNode["begun"]> {
    return this.#empty?.begun() ?? null;
  }

  /** The items of the block and of the types around it. */
  containers(): ClockRange[] {
    const around = [...(this.#empty?.containers() ?? []), ...containersOf(this.#parent)];
    return this.#beside === null ? around : [rangeOf(this.#beside), ...around];
  }

  /** Writes one block for each text, and returns their elements. `written` has the latest ones at each place. */
  write(
    block: Block,
    texts: readonly string[],
    format: Format,
    written: Map<unknown, Y.Item>,
  ): Y.XmlElement[] {
    const inner: Wrapper = [block.name, Object.entries(block.attributes ?? {})];
    const filled = this.#fill(inner, texts[0] ?? "", format);
    const blocks = (filled === null ? texts : texts.slice(1)).map((text) =>
      newBlock([...this.#wrappers, inner], text, format),
    );
    const key = this.#beside ?? this.#parent;
    const beside =
      this.#side === "before" ? (this.#beside?.left ?? null) : (written.get(key) ?? this.#beside);
    this.#parent.insertAfter(
      beside as never,
      blocks.map(({ outer }) => outer),
    );
    const last = blocks.at(-1)?.outer._item;
    if (last && this.#side === "after") written.set(key, last);
    const elements = blocks.map(({ element }) => element);
    return filled === null ? elements : [filled, ...elements];
  }

  /** Writes into the empty block, unless an edit before this one has. */
  #fill([, attributes]: Wrapper, text: string, format: Format): Y.XmlElement | null {
    const node = this.#empty;
    if (node?.element == null || text === "" || node.presentContent().text !== "") return null;
    setAttributes(node.element, attributes);
    node.open().insert(0, text, format);
    node.shift(0, text.length);
    return node.element;
  }
}

/** The empty element of this name that is a block, or all of a container. */
function emptyIn(document: EditedDocument, block: Y.Item, name: string): TextNode | null {
  let type = typeIn(block);
  if (nameOf(type) === CONTAINER) {
    const [inner, more] = shownItems(type as Y.XmlElement);
    type = inner === undefined || more !== undefined ? null : typeIn(inner);
  }
  const node = document.nodes.at(-1);
  if (!isElement(type) || type.nodeName !== name || node?.element !== type) return null;
  const isEmpty = shownItems(type).every((child) => typeIn(child) === node.type);
  return isEmpty && node.content.text === "" ? node : null;
}

/** New blocks that one list of edits makes. */
const MAX_BLOCKS = 1_000;
/** The memory of an element of Yjs, and of one of its attributes. */
const ELEMENT_BYTES = 2_048;
const ATTRIBUTE_BYTES = 512;

const weightOf = (name: string, attributes: Wrapper[1]): number =>
  attributes.reduce(
    (sum, [key, value]) => sum + ATTRIBUTE_BYTES + key.length + (jsonOf(value)?.length ?? 0),
    ELEMENT_BYTES + name.length,
  );

/** Bounds the new blocks of a list: each repeats its attributes, and the elements around it. */
export class BlockBudget {
  #blocks = 0;
  #bytes = 0;

  /** BAD_REQUEST when the list makes too many blocks, or too large ones. */
  spend(blocks: number, bytes: number): void {
    this.#blocks += blocks;
    this.#bytes += blocks * bytes;
    if (this.#blocks > MAX_BLOCKS)
      throw badRequest(`a list of edits makes at most ${MAX_BLOCKS} new blocks; send several lists`);
    if (this.#bytes > DOCUMENT_LIMITS.updateBytes)
      throw badRequest(
        "the new blocks repeat too many elements and attributes; send fewer blocks at once, or fewer attributes",
      );
  }
}

/** The item of the element around a text: not one within its line. */
function blockOf(document: EditedDocument, { type, element }: TextNode): Y.Item | null {
  let at: Items | null = element ?? type;
  for (;;) {
    const item: Y.Item | null = (at as Y.XmlElement | null)?._item ?? null;
    const parent = item?.parent;
    if (!isElement(parent) || !document.isLine(parent)) return item;
    at = parent;
  }
}

/** An element as it is made again: without the ID, which editors give it. */
const copyOf = (element: Y.XmlElement): Wrapper => [
  element.nodeName,
  attributesOf(element).filter(([key]) => key !== "id"),
];

/** The attributes of an element; those that are shared types are left out. */
export const attributesOf = (type: Items): (readonly [string, unknown])[] =>
  entriesOf(type).flatMap(([key, { content }]) =>
    content instanceof Y.ContentType ? [] : [[key, valuesOf(content).at(-1)] as const],
  );

function setAttributes(element: Y.XmlElement, attributes: Wrapper[1]): void {
  // Editors keep no attributes without a value.
  for (const [key, value] of attributes) if (value !== null) element.setAttribute(key, value as never);
}

function newBlock(wrappers: readonly Wrapper[], text: string, format: Format) {
  const elements = wrappers.map(([name, attributes]) => {
    const element = new Y.XmlElement(name);
    setAttributes(element, attributes);
    return element;
  });
  const element = elements.reduce((outer, inner) => {
    outer.insert(0, [inner]);
    return inner;
  });
  if (text !== "") {
    const content = new Y.XmlText();
    content.insert(0, text, format);
    element.insert(0, [content]);
  }
  return { element, outer: elements[0] ?? element };
}

/** The paragraphs of a text: the parts between empty lines; at least one. */
export function paragraphsOf(text: string): string[] {
  const paragraphs = text.split(/(?:\r?\n){2,}/).filter((paragraph) => paragraph !== "");
  return paragraphs.length === 0 ? [""] : paragraphs;
}
