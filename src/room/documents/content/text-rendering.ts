/** Renders texts and XML as Yjs does, up to an extent; tags that are opened are closed. */
import { EMBED, FORMAT, TEXT, TYPE } from "../updates/update-content.ts";
import type { Extent } from "./extent.ts";
import type { FlatDocument, TypePlace } from "./flat-document.ts";
import { attributesOf, Formats, OBJECT, writtenAs } from "./formats.ts";
import {
  ELEMENT_TYPE,
  FRAGMENT_TYPE,
  formatOf,
  TEXT_TYPE,
  typeOf,
  valuesOf,
  XML_TEXT_TYPE,
} from "./values.ts";
import { textOf } from "./walk-text.ts";

/** Types within types. What is deeper is left out. */
export const MAX_DEPTH = 200;

export class TextRendering {
  readonly #document: FlatDocument;
  readonly #extent: Extent;

  constructor(document: FlatDocument, extent: Extent) {
    this.#document = document;
    this.#extent = extent;
  }

  /** Without its formats. */
  text(type: TypePlace): string {
    return this.#joined(type, (piece) => (this.#kindOf(piece) === TEXT ? this.#textOf(piece) : ""));
  }

  /** What an XML fragment, or an element, has. */
  xml(type: TypePlace, depth: number): string {
    return this.#joined(type, (piece) => {
      if (this.#kindOf(piece) === FORMAT) return "";
      if (this.#kindOf(piece) === TEXT) return this.#textOf(piece);
      if (this.#kindOf(piece) === TYPE) return this.type(piece, depth);
      return valuesOf(this.#document.pieces, piece)
        .map((value) => this.#whole(writtenAs(value)))
        .join("");
    });
  }

  /** A shared type within another one. */
  type(piece: number, depth: number): string {
    const { kind, name } = typeOf(this.#document.pieces, piece);
    if (depth >= MAX_DEPTH) this.#extent.cut();
    if (this.#extent.isCut) return "";
    switch (kind) {
      case TEXT_TYPE:
        return this.text(piece);
      case XML_TEXT_TYPE:
        return this.#formatted(piece, depth + 1);
      case FRAGMENT_TYPE:
        return this.xml(piece, depth + 1);
      case ELEMENT_TYPE:
        return this.#element(piece, name.toLocaleLowerCase(), depth + 1);
      default:
        return this.#whole(OBJECT);
    }
  }

  #element(piece: number, name: string, depth: number): string {
    const { pieces } = this.#document;
    const entries = [...this.#document.entriesOf(piece)].map(([key, latest]) => {
      const value =
        this.#kindOf(latest) === TYPE ? this.type(latest, depth) : valuesOf(pieces, latest).at(-1);
      return [key, value] as const;
    });
    const opening = `<${name}${attributesOf(Object.fromEntries(entries))}>`;
    return this.#within(opening, `</${name}>`, () => this.xml(piece, depth));
  }

  /** With tags for its formats. */
  #formatted(type: TypePlace, depth: number): string {
    const formats = new Formats();
    let [rendered, stretch] = ["", ""];
    const endStretch = () => {
      const { opening, closing } = formats.tags();
      const text = stretch;
      if (text !== "") rendered += this.#within(opening, closing, () => text);
      stretch = "";
    };
    for (const piece of this.#document.shownIn(type)) {
      const kind = this.#kindOf(piece);
      if (kind === TEXT) stretch += this.#textOf(piece);
      if (kind === FORMAT || kind === EMBED || kind === TYPE) endStretch();
      if (kind === FORMAT) formats.pass(formatOf(this.#document.pieces, piece));
      if (kind === EMBED || kind === TYPE) {
        const { opening, closing } = formats.tags();
        rendered += this.#within(opening, closing, () => this.#embedded(piece, depth));
      }
      if (this.#extent.isCut) break;
    }
    endStretch();
    return rendered;
  }

  #embedded(piece: number, depth: number): string {
    if (this.#kindOf(piece) === TYPE) return this.type(piece, depth);
    return this.#whole(writtenAs(valuesOf(this.#document.pieces, piece)[0]));
  }

  #joined(type: TypePlace, render: (piece: number) => string): string {
    let rendered = "";
    for (const piece of this.#document.shownIn(type)) {
      rendered += render(piece);
      if (this.#extent.isCut) break;
    }
    return rendered;
  }

  #within(opening: string, closing: string, render: () => string): string {
    return this.#extent.takeAll(opening.length + closing.length)
      ? `${opening}${render()}${closing}`
      : render();
  }

  #whole(text: string): string {
    return this.#extent.takeAll(text.length) ? text : "";
  }

  /** No half of a character, which would be replaced, at the end of what is cut. */
  #textOf(piece: number): string {
    const { pieces } = this.#document;
    const length = pieces.lengthOf(piece);
    const taken = this.#extent.take(length);
    const text = textOf(pieces, piece, taken);
    return taken < length ? text.replace(/\uFFFD$/, "") : text;
  }

  #kindOf(piece: number): number | undefined {
    return this.#document.pieces.kind[piece];
  }
}
