/** Applies a list of edits to a document, at the places where it was read. */
import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { Edit, EditedRoot } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import type { Author, EditGuard } from "../../types/documents.ts";
import type { ClockRange } from "../updates/ranges.ts";
import { ChangesOfOthers } from "./changes-of-others.ts";
import { about, badRequest, conflict, EditedDocument, type Position } from "./edited-document.ts";
import { DocumentFormats } from "./formats.ts";
import { type Block, BlockBudget, BlockPlace, paragraphsOf } from "./new-blocks.ts";
import { findPosition, findStretch } from "./places.ts";
import type { ReadDocument } from "./read-document.ts";
import { blockStep, type FoundBlockPlace, formatStep, insertStep, replaceStep, type Step } from "./steps.ts";
import type { TextContent } from "./text-content.ts";
import type { TextNode } from "./text-node.ts";

/** The outcome of an edit. */
export interface AppliedEdit {
  /** The text of its block around the place after all edits (at most 200 characters). */
  readonly text: string;
  /** The place after what it has written: a relative position of Yjs; null for edits that write nothing. */
  readonly end: Uint8Array | null;
}

/** The outcome of a list of edits. */
export interface AppliedEdits {
  /** Only the news; null when nothing changes. */
  readonly update: Uint8Array | null;
  readonly guard: EditGuard;
  /** The outcome of each edit, in their order. */
  readonly edits: readonly AppliedEdit[];
}

/**
 * Applies edits in order, at places that are all found in the document as it is. `read` is what the program has read;
 * null when that is unknown. Edits of `own` are no changes since; `client` is the client ID with which these go on. BAD_REQUEST for malformed anchors, overlapping
 * stretches, blocks in a text, too many or too large blocks, a root of the other type, and anchored stretches without
 * `read`; CONFLICT for places that are not there any more, are ambiguous, or were changed since, and for documents too
 * large to build. A list is applied whole or not at all.
 */
export function applyEdits(
  update: Uint8Array,
  root: EditedRoot,
  edits: readonly Edit[],
  read: ReadDocument | null,
  own: Author | null,
  client: number | null = null,
): AppliedEdits {
  const others = read === null ? null : new ChangesOfOthers(read.state, read.since, own);
  const document = new EditedDocument(update, root, client);
  const formats = new DocumentFormats(document);
  const list: EditList = { document, others, formats, written: new Map(), budget: new BlockBudget() };
  const steps = edits.map((edit, index) => about(`edits[${index}]`, () => stepOf(list, edit)));
  requireApart(steps);
  const guard = guardOf(steps, document.state);
  const news = document.edit(() => {
    for (const step of steps) step.apply();
  });
  const contents = new Map<TextNode, TextContent>();
  const contentOf = (node: TextNode): TextContent => {
    const content = contents.get(node) ?? node.presentContent();
    contents.set(node, content);
    return content;
  };
  return {
    update: news,
    guard,
    edits: steps.map((step) => ({ text: step.shown(contentOf), end: endOf(step) })),
  };
}

/** The document that a list of edits changes, with all that the edits have in common. */
interface EditList {
  readonly document: EditedDocument;
  readonly others: ChangesOfOthers | null;
  readonly formats: DocumentFormats;
  /** The latest new block at each place. */
  readonly written: Map<unknown, Y.Item>;
  readonly budget: BlockBudget;
}

function guardOf(steps: readonly Step[], state: Uint8Array): EditGuard {
  const relied = steps.map((step) => step.relied());
  const begun = relied.flatMap((each) => each.begun ?? []);
  return {
    ranges: joined(relied.flatMap(({ ranges }) => ranges)),
    interiors: joined(relied.map(({ interiors }) => interiors)),
    begun: joined([begun.map(({ element }) => element)]),
    remains: joined(begun.map(({ remains }) => remains)),
    state,
  };
}

/** The ranges, adjacent ones as one. BAD_REQUEST for more than the room could take. */
function joined(parts: readonly Iterable<ClockRange>[]): ClockRange[] {
  const all: ClockRange[] = [];
  for (const part of parts)
    for (const range of part) {
      const last = all.at(-1);
      if (last?.client === range.client && last.end === range.start)
        all[all.length - 1] = { ...last, end: range.end };
      else all.push(range);
      if (all.length > DOCUMENT_LIMITS.builtItems)
        throw badRequest("the edits concern too much of the document; send several lists");
    }
  return all;
}

function endOf(step: Step): Uint8Array | null {
  const written = step.written();
  if (written === null) return null;
  const { type, index } = written;
  return Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(type, index, -1));
}

function stepOf(list: EditList, edit: Edit): Step {
  const { document, others, formats, written } = list;
  if ("insert" in edit) {
    const { at, insert, format, block } = edit;
    if (block === undefined) {
      const position = findTextPosition(document, at);
      formats.require(format, position.node.element?.nodeName ?? null);
      return insertStep(position, insert, format);
    }
    formats.require(format, block.name);
    const found = findBlockPlace(document, at, block);
    const paragraphs = paragraphsOf(insert);
    list.budget.spend(paragraphs.length, found.place.weightOf(block, format));
    return blockStep(found, block, paragraphs, format, written);
  }
  const stretch = findStretch(document, edit.at, others, "format" in edit);
  formats.require("format" in edit ? edit.format : undefined, stretch.node.element?.nodeName ?? null);
  if ("format" in edit) return formatStep(stretch, edit.format);
  const replacement = "replace" in edit ? edit.replace : "";
  if (replacement !== "") requireWritable(document, { node: stretch.node, index: stretch.start });
  return replaceStep(stretch, replacement);
}

/** CONFLICT where the editor would delete a text. */
function requireWritable(document: EditedDocument, { node, index }: Position): void {
  if (!document.holdsText(node))
    throw conflict(`a “${node.element?.nodeName}” holds no text; send \`block\` to write beside it`);
  if (node.needsMapBefore(index))
    throw conflict("the block is empty, and only its editor can begin a text in it; choose another place");
}

/** The position at which an edit inserts into a text. */
function findTextPosition(document: EditedDocument, at: Edit["at"]): ReturnType<typeof findPosition> {
  const position = findPosition(document, at);
  requireWritable(document, position);
  return position;
}

function findBlockPlace(document: EditedDocument, at: Edit["at"], { name }: Block): FoundBlockPlace {
  if (!(document.root instanceof Y.XmlFragment))
    throw badRequest("only XML has blocks; insert without `block`");
  if (document.isOfLexical)
    throw conflict("Lexical keeps its blocks in another form than elements; insert without `block`");
  if (typeof at === "string")
    return { place: BlockPlace.atEdge(document, name, at === "start"), quoted: null };
  const { node, quoted } = findPosition(document, at);
  const side = "side" in at ? (at.side ?? "after") : "after";
  return { place: BlockPlace.beside(document, node, name, side), quoted };
}

/** BAD_REQUEST for stretches that overlap, and for places inside of a stretch that is deleted or replaced. */
function requireApart(steps: readonly Step[]): void {
  for (const [one, { stretch, isDeleting }] of steps.entries())
    for (const [other, { stretch: within }] of steps.entries()) {
      if (one === other || stretch === null || within === null || stretch.node !== within.node) continue;
      const isPlace = within.start === within.end;
      if (isPlace && !isDeleting) continue;
      if (within.start < stretch.end && within.end > stretch.start)
        throw badRequest(`edits[${other}]: its place overlaps with that of edits[${one}]`);
    }
}
