/** Reads the blocks of a document: the texts of XML, the lines of a text, with anchors. */
import { EDIT_LIMITS, type EditedRoot } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { jsonOf } from "../updates/built-document.ts";
import { about, EditedDocument } from "./edited-document.ts";
import { attributesOf } from "./new-blocks.ts";
import { EMBEDDED, type TextContent } from "./text-content.ts";
import type { TextNode } from "./text-node.ts";

/** A block with text. Anchors are encoded relative positions of Yjs. */
export interface ReadBlock {
  /** The place before its first character. */
  readonly anchor: Uint8Array;
  /** The place after its last character. */
  readonly end: Uint8Array;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The number of elements around it. */
  readonly depth: number;
  readonly text: string;
}

export interface BlocksPage {
  readonly blocks: ReadBlock[];
  /** State vector of the document that was read. */
  readonly state: Uint8Array;
  readonly hasMore: boolean;
}

/**
 * Lists up to `limit` blocks after the one with the anchor or end `after`. A paragraph with an element within its text
 * is several. BAD_REQUEST for a malformed anchor; CONFLICT when its block is gone, or the document is too large to
 * build.
 */
export function readBlocks(
  update: Uint8Array,
  root: EditedRoot,
  { after, limit }: { readonly after: Uint8Array | null; readonly limit: number },
): BlocksPage {
  const document = new EditedDocument(update, root);
  const last = after === null ? null : about("after", () => document.find(after));
  const read = document.root instanceof Y.XmlFragment ? textsOf(document) : linesOf(document, root.root);
  const blocks: ReadBlock[] = [];
  let isAfter = last === null;
  let length = 0;
  for (const { node, start, end, block } of read) {
    if (!isAfter) {
      isAfter = node === last?.node && last.index >= start && last.index <= end;
      continue;
    }
    length += end - start + BLOCK_LENGTH;
    const isFull = blocks.length === limit || length > PAGE_LENGTH;
    if (isFull && blocks.length > 0) return { blocks, state: document.state, hasMore: true };
    blocks.push(block());
  }
  return { blocks, state: document.state, hasMore: false };
}

/** Characters of a page, unless it has one block alone; and those of each block beside its text, attributes included. */
const PAGE_LENGTH = 1024 * 1024;
const BLOCK_LENGTH = 512;

/** A block that is not yet read. */
interface Unread {
  readonly node: TextNode;
  readonly start: number;
  readonly end: number;
  block(): ReadBlock;
}

const MAX_NAME_LENGTH = 255;

/** The attributes that an edit may give a block: none where they are longer, such as those with a picture in them. */
function shown(attributes: readonly (readonly [string, unknown])[]): ReadBlock["attributes"] {
  const json = jsonOf(Object.fromEntries(attributes)) ?? "{}";
  return json.length > EDIT_LIMITS.formatBytes ? {} : JSON.parse(json);
}

function* textsOf({ nodes }: EditedDocument): Generator<Unread> {
  for (const node of nodes) {
    const { element, type, depth } = node;
    const holder = element ?? type;
    const end = node.content.text.length;
    yield {
      node,
      start: 0,
      end,
      block: () => {
        const attributes = holder === null ? [] : attributesOf(holder);
        const kind = attributes.find(([key]) => key === "__type")?.[1];
        return {
          ...anchorsOf(node.content, node.start, end, (type ?? element)?._item?.id ?? null),
          name: (element?.nodeName ?? (typeof kind === "string" ? kind : "text")).slice(0, MAX_NAME_LENGTH),
          attributes: shown(attributes),
          depth,
          text: node.content.text.replaceAll(EMBEDDED, ""),
        };
      },
    };
  }
}

function* linesOf({ nodes }: EditedDocument, rootName: string): Generator<Unread> {
  for (const node of nodes) {
    const { content } = node;
    for (let [start, end] = [0, -1]; end < content.text.length; start = end + 1) {
      const next = content.text.indexOf("\n", start);
      end = next === -1 ? content.text.length : next;
      const [from, to] = [start, end];
      yield {
        node,
        start,
        end,
        block: () => ({
          ...anchorsOf(content, from, to, rootName),
          name: "line",
          attributes: {},
          depth: 0,
          text: content.text.slice(from, to).replaceAll(EMBEDDED, ""),
        }),
      };
    }
  }
}

/**
 * The anchors of a stretch hold on to its own characters: what is typed beside them is outside. In an empty one, both are
 * after the character before it.
 */
function anchorsOf(content: TextContent, start: number, end: number, container: Y.ID | string | null) {
  const isEmpty = start === end;
  const before = start === 0 ? null : content.idAt(start - 1);
  const place = { type: null, tname: null, [typeof container === "string" ? "tname" : "type"]: container };
  const encode = (item: Y.ID | null, assoc: number) =>
    Y.encodeRelativePosition(
      Y.createRelativePositionFromJSON(item === null ? { ...place, assoc: -1 } : { item, assoc }),
    );
  return isEmpty
    ? { anchor: encode(before, -1), end: encode(before, -1) }
    : { anchor: encode(content.idAt(start), 0), end: encode(content.idAt(end - 1), -1) };
}
