/** A document in which programs read and write: its texts, and the anchors of positions in them. */

import { AppError } from "@atrium/contract/errors.ts";
import { EDIT_LIMITS, type EditedRoot } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { BuiltDocument, editAsUser, type Items, itemsOf, sharedTypeOf } from "../updates/built-document.ts";
import { textAround } from "./text-content.ts";
import { TextNode } from "./text-node.ts";

export const conflict = (message: string): AppError => new AppError("Rooms", "CONFLICT", message);
export const badRequest = (message: string): AppError => new AppError("Rooms", "BAD_REQUEST", message);

/** Names the subject of a refusal. */
export function about<Result>(subject: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.module, error.code, `${subject}: ${error.message}`);
  }
}

/** Elements within elements. Deeper ones are left out, as in the rendering of the content. */
const MAX_DEPTH = 200;

/** Elements of Tiptap and BlockNote that hold text, for those that are empty. */
const TEXT_ELEMENTS = [
  "paragraph",
  "heading",
  "codeBlock",
  "quote",
  "bulletListItem",
  "numberedListItem",
  "checkListItem",
  "toggleListItem",
];

const namesOf = (parent: string, child: string): string => JSON.stringify([parent, child]);

/** The place of an anchor among the items of its text, deleted ones included. */
export type Spot =
  /** Directly before the operation with this clock, in or at an item; `isDeleted` if the anchor's own character is. */
  { readonly item: Y.Item; readonly clock: number; readonly isDeleted: boolean } | "start" | "end";

export interface Position {
  readonly node: TextNode;
  readonly index: number;
}

/** The position of an anchor. */
export interface AnchoredPosition extends Position {
  readonly spot: Spot;
}

export class EditedDocument {
  readonly root: Y.Text | Y.XmlFragment;
  /** State vector of the document that was read. */
  readonly state: Uint8Array;
  /** Its texts in order, and elements without content, which may get one. */
  readonly nodes: TextNode[] = [];
  /** Texts that were deleted, or whose element was. */
  readonly deletedNodes: TextNode[] = [];
  readonly #built: BuiltDocument;
  readonly #rootName: string;
  readonly #nodeOf = new Map<Items, TextNode>();
  readonly #textElements = new Set(TEXT_ELEMENTS);
  readonly #nestings = new Set<string>();
  /** The first node within each type, and the number of the one after its last, among all nodes. */
  readonly #within = new Map<unknown, readonly [first: number, end: number]>();
  readonly #lines = new Set<unknown>();
  #isOfLexical: boolean | null = null;

  /** CONFLICT when the document is too large to be built, BAD_REQUEST when its root is of the other type. */
  constructor(update: Uint8Array, { root, type }: EditedRoot, client: number | null = null) {
    this.#built = new BuiltDocument([update]);
    const { doc } = this.#built;
    editAsUser(doc, client);
    this.#rootName = root;
    this.state = Y.encodeStateVector(doc);
    const shared = sharedTypeOf(doc, type, root);
    requireKind(shared, type);
    if (shared instanceof Y.Text) {
      // Yjs forgets on the way to a text that it has formats, and would lose one with a deletion.
      shared._searchMarker = null;
      this.root = shared;
      this.#add(new TextNode(shared, null, 0));
      this.#within.set(shared, [0, 1]);
    } else {
      this.root = shared as Y.XmlFragment;
      this.#collect(this.root, null, 0, false);
      this.#within.set(this.root, [0, this.nodes.length]);
    }
  }

  /** The first or the last text that can be written into. */
  writableNode(at: "start" | "end"): TextNode | undefined {
    const isWritable = (node: TextNode) => this.holdsText(node);
    return at === "start" ? this.nodes.find(isWritable) : this.nodes.findLast(isWritable);
  }

  /** Whether it has texts in the form of Lexical, which keeps no elements. */
  get isOfLexical(): boolean {
    this.#isOfLexical ??= this.nodes.some(({ isOfLexical }) => isOfLexical);
    return this.#isOfLexical;
  }

  /** Whether text stands directly in an element. */
  isLine(element: unknown): boolean {
    return this.#lines.has(element);
  }

  /** False for an empty element of a kind that never holds text here, such as an image. */
  holdsText({ type, element }: TextNode): boolean {
    return type !== null || element === null || this.#textElements.has(element.nodeName);
  }

  /** Whether an element of one name stands in one of another name ("" for the root). */
  hasNesting(parent: string, child: string): boolean {
    return this.#nestings.has(namesOf(parent, child));
  }

  /** Changes the document, and returns the update; null without a change. */
  edit(change: (transaction: Y.Transaction) => void): Uint8Array | null {
    return this.#built.edit(change);
  }

  /** The position of an anchor. BAD_REQUEST for one that is malformed or elsewhere, CONFLICT for one that is gone. */
  find(anchor: Uint8Array): AnchoredPosition {
    const { type, tname, item, assoc } = decodeAnchor(anchor);
    if (item !== null) return this.#findItem(item, assoc);
    if (tname !== null && tname !== this.#rootName) throw elsewhere();
    const container = type === null ? this.root : this.#typeOf(this.#itemOf(type));
    return this.#edgeOf(container, assoc < 0);
  }

  #findItem(id: Y.ID, assoc: number): AnchoredPosition {
    const item = this.#itemOf(id);
    if (item.parentSub !== null) throw elsewhere();
    const container = item.parent as Items;
    this.#requireShown(container);
    const node = this.#nodeOf.get(container);
    if (node === undefined) return this.#edgeOf(this.#typeOf(item), true);
    const isShown = !item.deleted && item.countable;
    const clock = id.clock + (assoc < 0 ? 1 : 0);
    let index = isShown ? clock - item.id.clock : 0;
    for (let left = item.left; left !== null; left = left.left)
      if (!left.deleted && left.countable) index += left.length;
    return { node, index: node.content.whole(index), spot: { item, clock, isDeleted: item.deleted } };
  }

  /** The start or the end of the texts within a type. */
  #edgeOf(container: Items, isStart: boolean): AnchoredPosition {
    this.#requireShown(container);
    const node = isStart ? this.#nodesIn(container)[0] : this.#nodesIn(container).at(-1);
    if (node === undefined) throw badRequest("the anchor is in no text; read the blocks for others");
    return isStart
      ? { node, index: node.start, spot: "start" }
      : { node, index: node.content.text.length, spot: "end" };
  }

  /** The first and the last text within a type. */
  #nodesIn(container: unknown): TextNode[] {
    const [first, end] = this.#within.get(container) ?? [0, 0];
    return first === end ? [] : [this.nodes[first], this.nodes[end - 1]].flatMap((node) => node ?? []);
  }

  /** The present text beside something that was deleted; null where none is. */
  #besideDeleted({ parent, left, right }: Y.Item): string | null {
    for (const [side, next] of [
      ["left", left],
      ["right", right],
    ] as const)
      for (let at: Y.Item | null = next; at !== null; at = at[side]) {
        const nodes =
          !at.deleted && at.content instanceof Y.ContentType ? this.#nodesIn(at.content.type) : [];
        const node = side === "left" ? nodes.at(-1) : nodes[0];
        const text = node?.content.text ?? "";
        if (text !== "") return shown(text, side === "left" ? text.length : 0);
      }
    return parent instanceof Y.AbstractType && parent._item !== null
      ? this.#besideDeleted(parent._item)
      : null;
  }

  #itemOf({ client, clock }: Y.ID): Y.Item {
    const { doc } = this.#built;
    if (clock >= Y.getState(doc.store, client))
      throw conflict("the anchor is not known to the document; read it again");
    const item: unknown = Y.getItem(doc.store, Y.createID(client, clock));
    if (!(item instanceof Y.Item)) throw gone();
    return item;
  }

  #typeOf({ content, deleted }: Y.Item): Items {
    if (content instanceof Y.ContentType) return content.type;
    throw deleted ? gone() : badRequest("the anchor is in no text; read the blocks for others");
  }

  #requireShown(container: Items): void {
    let at: unknown = container;
    let deleted: Y.Item | null = null;
    for (let depth = 0; at !== this.root; depth += 1) {
      if (!(at instanceof Y.AbstractType) || at._item === null || depth > MAX_DEPTH) throw elsewhere();
      if (at._item.deleted) deleted = at._item;
      at = at._item.parent;
    }
    if (deleted !== null) throw gone(this.#besideDeleted(deleted));
  }

  #add(node: TextNode): void {
    this.nodes.push(node);
    const container = node.type ?? node.element;
    if (container !== null) this.#nodeOf.set(container, node);
  }

  #collect(type: Items, element: Y.XmlElement | null, depth: number, isDeleted: boolean): void {
    if (depth > MAX_DEPTH) return;
    const children = [...itemsOf(type)].flatMap((item) =>
      item.content instanceof Y.ContentType ? [{ inner: item.content.type as Items, item }] : [],
    );
    const holdsText = children.some(({ inner, item }) => inner instanceof Y.XmlText && !item.deleted);
    if (element !== null && holdsText) {
      this.#textElements.add(element.nodeName);
      this.#lines.add(element);
    }
    for (const { inner, item } of children) {
      const isGone = isDeleted || item.deleted;
      const before = this.nodes.length;
      if (inner instanceof Y.XmlText) {
        const node = new TextNode(inner, element, Math.max(0, depth - 1));
        if (isGone) this.deletedNodes.push(node);
        else this.#add(node);
        this.#collect(inner, null, depth + 1, isGone);
      } else if (inner instanceof Y.XmlElement) {
        if (!isGone) this.#nestings.add(namesOf(element?.nodeName ?? "", inner.nodeName));
        this.#collect(inner, inner, depth + 1, isGone);
        const isEmpty = !isGone && !holdsText && before === this.nodes.length;
        if (isEmpty) this.#add(new TextNode(null, inner, depth));
      } else continue;
      if (!isGone) this.#within.set(inner, [before, this.nodes.length]);
    }
  }
}

/** A part of a text, as messages show it. */
export const shown = (text: string, index: number): string =>
  `“${textAround(text, index, EDIT_LIMITS.shownText)}”`;

/** BAD_REQUEST for XML as a text, and the other way round: an editor fails for good on a text beside its elements. */
function requireKind(shared: Items, type: EditedRoot["type"]): void {
  let [hasXml, hasText] = [false, false];
  for (const { content, deleted } of itemsOf(shared)) {
    if (deleted) continue;
    if (content instanceof Y.ContentString) hasText = true;
    if (content instanceof Y.ContentType)
      hasXml ||= content.type instanceof Y.XmlElement || content.type instanceof Y.XmlText;
  }
  if (type === "text" && hasXml) throw badRequest('this root holds XML: send `type: "xml"`');
  if (type === "xml" && hasText && !hasXml) throw badRequest('this root holds a text: send `type: "text"`');
}

const gone = (near: string | null = null) =>
  conflict(`the block of the anchor was deleted${near === null ? "" : `; beside its place stands ${near}`}`);
const elsewhere = () => badRequest("the anchor belongs to something else than this text");

/** BAD_REQUEST for bytes that are no relative position. */
function decodeAnchor(anchor: Uint8Array): Y.RelativePosition {
  let position: Y.RelativePosition | null = null;
  try {
    position = Y.decodeRelativePosition(anchor);
  } catch {
    // Refused below, like a position of an unknown kind.
  }
  if (position === null || (position.item ?? position.type ?? position.tname) === null)
    throw badRequest("the anchor is no relative position of Yjs");
  return position;
}
