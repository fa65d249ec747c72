/** Lists the blocks that people changed since a program has read a document. */
import { EDIT_LIMITS, type EditedRoot } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { type Author, type AuthoredUpdate, distinctAuthors } from "../../types/documents.ts";
import { itemsOf } from "../updates/built-document.ts";
import { ChangesOfOthers } from "./changes-of-others.ts";
import { EditedDocument } from "./edited-document.ts";
import { textAround } from "./text-content.ts";
import type { TextNode } from "./text-node.ts";

/** A block in which someone wrote or deleted. */
export interface ChangedText {
  /** Its present text, at most 200 characters around the first change. */
  readonly text: string;
  /** Characters that are new. */
  readonly inserted: number;
  /** Characters that are gone. */
  readonly deleted: number;
  readonly authors: readonly Author[];
}

/**
 * The first blocks with characters that the state vector `state` does not cover, or of which `since` has deleted some
 * that it covers; deleted blocks while the document keeps their content. Edits of `own` are left out. CONFLICT for
 * documents too large to build.
 */
export function changedBlocks(
  update: Uint8Array,
  root: EditedRoot,
  state: Uint8Array,
  since: readonly AuthoredUpdate[],
  own: Author | null,
): ChangedText[] {
  const document = new EditedDocument(update, root);
  const changes = new Changes(new ChangesOfOthers(state, since, own));
  const isText = document.root instanceof Y.Text;
  const changed: ChangedText[] = [];
  for (const [nodes, isDeleted] of [
    [document.nodes, false],
    [document.deletedNodes, true],
  ] as const)
    for (const node of nodes)
      for (const block of changes.of(node, isText, isDeleted)) {
        changed.push(block);
        if (changed.length === EDIT_LIMITS.changedBlocks) return changed;
      }
  return changed;
}

/** A block while its items are counted. */
class Counted {
  text = "";
  inserted = 0;
  deleted = 0;
  firstAt: number | null = null;
  readonly authors: Author[] = [];

  count(kind: "inserted" | "deleted", length: number, authors: readonly Author[]): void {
    this[kind] += length;
    this.firstAt ??= this.text.length;
    this.authors.push(...authors);
  }
}

class Changes {
  readonly #others: ChangesOfOthers;

  constructor(others: ChangesOfOthers) {
    this.#others = others;
  }

  /** The changed blocks of a text: its lines, or itself. */
  *of({ type }: TextNode, hasLines: boolean, isDeleted: boolean): Generator<ChangedText> {
    let block = new Counted();
    for (const item of type === null ? [] : itemsOf(type)) {
      const text = item.content instanceof Y.ContentString ? item.content.str : "";
      if (item.deleted) this.#countDeleted(item, block);
      else if (text !== "") {
        let offset = 0;
        for (const [index, line] of (hasLines ? text.split("\n") : [text]).entries()) {
          if (index > 0) {
            this.#countInserted(item, offset, 1, block);
            offset += 1;
            yield* finished(block);
            block = new Counted();
          }
          this.#countInserted(item, offset, line.length, block);
          block.text += line;
          offset += line.length;
        }
      }
    }
    if (isDeleted) block.text = "";
    yield* finished(block);
  }

  #countInserted({ id: { client, clock } }: Y.Item, offset: number, length: number, block: Counted): void {
    const from = clock + offset;
    for (const change of this.#others.inserted(client, from, from + length))
      block.count("inserted", change.length, change.authors);
  }

  #countDeleted({ id: { client, clock }, content, length }: Y.Item, block: Counted): void {
    if (content instanceof Y.ContentFormat) return;
    for (const change of this.#others.deleted(client, clock, clock + length))
      block.count("deleted", change.length, change.authors);
  }
}

function* finished({ text, inserted, deleted, firstAt, authors }: Counted): Generator<ChangedText> {
  if (firstAt === null) return;
  yield {
    text: textAround(text, firstAt, EDIT_LIMITS.shownText),
    inserted,
    deleted,
    authors: distinctAuthors(authors),
  };
}
