/** The formats of a document's texts, and those that an edit may use: editors delete a text with one that they do not know. */
import * as Y from "yjs";
import { itemsOf } from "../updates/built-document.ts";
import { conflict, type EditedDocument } from "./edited-document.ts";
import type { Format } from "./new-blocks.ts";

/** Names that Tiptap and BlockNote share, beside those that the document has. */
const KNOWN = [
  ...["bold", "italic", "underline", "strike", "code", "link", "textStyle", "highlight"],
  ...["subscript", "superscript", "textColor", "backgroundColor"],
];
/** Elements whose text has no formats. */
const PLAIN = "codeBlock";
/** Yjs walks through all formats that are open for each edit: hostile ones would take minutes. */
const MAX_NAMES = 1_000;

export class DocumentFormats {
  readonly #document: EditedDocument;
  #names: Set<string> | null = null;

  constructor(document: EditedDocument) {
    this.#document = document;
  }

  /** CONFLICT for a format that the editor may not know, in an element without formats, and for a document with too many. */
  require(format: Format, element: string | null): void {
    this.#names ??= this.#read();
    if (this.#names.size > MAX_NAMES)
      throw conflict(`texts with more than ${MAX_NAMES} formats are not edited`);
    if (!(this.#document.root instanceof Y.XmlFragment)) return;
    for (const [name, value] of Object.entries(format ?? {})) {
      if (value === null) continue;
      if (element === PLAIN) throw conflict(`a “${PLAIN}” takes no formats`);
      if (!this.#names.has(name) && !KNOWN.includes(name))
        throw conflict(
          `the document has no format “${name}”, and its editor would delete the text; use the editor's own name, such as “bold”`,
        );
    }
  }

  #read(): Set<string> {
    const names = new Set<string>();
    for (const { type } of this.#document.nodes)
      for (const { content } of type === null ? [] : itemsOf(type))
        if (content instanceof Y.ContentFormat) names.add(content.key);
    return names;
  }
}
