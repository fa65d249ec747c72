/** Renders texts and XML as Yjs does, up to an extent; tags that are opened are closed. */
import * as Y from "yjs";
import { bytesToBase64 } from "../../../platform/crypto/encoding.ts";
import { type Items, itemsOf } from "../updates/built-document.ts";

/** Types within types. Deeper ones are left out. */
export const MAX_DEPTH = 200;

type Content = Y.Item["content"];

/** The values of an item, each of which is one in an array; a shared type is one. */
export function valuesOf(content: Content): readonly unknown[] {
  if (content instanceof Y.ContentBinary) return [bytesToBase64(content.content)];
  return content instanceof Y.ContentDoc ? [{}] : content.getContent();
}

/** The entries of a map, or the attributes of an element. */
export const entriesOf = ({ _map }: Items): [key: string, item: Y.Item][] =>
  [..._map].filter(([, { deleted }]) => !deleted);

export class TextRendering {
  readonly #extent: LengthBudget;

  constructor(extent: LengthBudget) {
    this.#extent = extent;
  }

  text(items: Items): string {
    return this.#joined(items, (content) =>
      content instanceof Y.ContentString ? this.#textOf(content) : "",
    );
  }

  /** An XML fragment, or the content of an element. */
  xml(items: Items, depth: number): string {
    return this.#joined(items, (content) => {
      if (content instanceof Y.ContentString) return this.#textOf(content);
      if (content instanceof Y.ContentType) return this.type(content.type, depth);
      return valuesOf(content)
        .map((value) => this.#whole(writtenAs(value)))
        .join("");
    });
  }

  type(type: Items, depth: number): string {
    if (depth >= MAX_DEPTH) this.#extent.cut();
    if (this.#extent.isCut) return "";
    // Each of these kinds extends one that follows it.
    if (type instanceof Y.XmlText) return this.#formatted(type, depth + 1);
    if (type instanceof Y.Text) return this.text(type);
    if (type instanceof Y.XmlElement) return this.#element(type, depth + 1);
    return type instanceof Y.XmlFragment ? this.xml(type, depth + 1) : this.#whole(OBJECT);
  }

  #element(element: Y.XmlElement, depth: number): string {
    const name = element.nodeName.toLocaleLowerCase();
    const attributes = entriesOf(element).map(([key, { content }]) => [
      key,
      content instanceof Y.ContentType ? this.type(content.type, depth) : valuesOf(content).at(-1),
    ]);
    const opening = `<${name}${attributesOf(Object.fromEntries(attributes))}>`;
    return this.#within(opening, `</${name}>`, () => this.xml(element, depth));
  }

  #formatted(text: Items, depth: number): string {
    const formats = new OpenFormats();
    let [rendered, stretch] = ["", ""];
    const endStretch = () => {
      const { opening, closing } = formats.tags();
      const text = stretch;
      if (text !== "") rendered += this.#within(opening, closing, () => text);
      stretch = "";
    };
    for (const { content, deleted } of itemsOf(text)) {
      if (deleted) continue;
      if (content instanceof Y.ContentString) stretch += this.#textOf(content);
      if (content instanceof Y.ContentFormat) {
        endStretch();
        formats.pass(content);
      }
      if (content instanceof Y.ContentEmbed || content instanceof Y.ContentType) {
        endStretch();
        const { opening, closing } = formats.tags();
        rendered += this.#within(opening, closing, () => this.#embedded(content, depth));
      }
      if (this.#extent.isCut) break;
    }
    endStretch();
    return rendered;
  }

  #embedded(content: Y.ContentEmbed | Y.ContentType, depth: number): string {
    if (content instanceof Y.ContentType) return this.type(content.type, depth);
    return this.#whole(writtenAs(content.embed));
  }

  #joined(items: Items, render: (content: Content) => string): string {
    let rendered = "";
    for (const { content, deleted } of itemsOf(items)) {
      if (deleted) continue;
      rendered += render(content);
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

  /** Up to where it is cut, but never half of a character. */
  #textOf({ str }: Y.ContentString): string {
    const taken = this.#extent.take(str.length);
    return taken < str.length ? str.slice(0, taken).replace(/[\uD800-\uDBFF]$/, "") : str;
  }
}

/** The formats at a place of a text. */
export class OpenFormats {
  readonly #values = new Map<string, unknown>();

  /** Passes a mark with which a format begins or ends. */
  pass({ key, value }: { readonly key: string; readonly value: unknown }): void {
    if (value === null) this.#values.delete(key);
    else this.#values.set(key, value);
  }

  tags(): { readonly opening: string; readonly closing: string } {
    const sorted = [...this.#values].sort(byName);
    return {
      opening: sorted.map(([name, value]) => `<${name}${attributesOf(Object(value))}>`).join(""),
      closing: sorted
        .reverse()
        .map(([name]) => `</${name}>`)
        .join(""),
    };
  }
}

/** Text of a shared type that is neither text nor XML. */
const OBJECT = "[object Object]";

/** A value as Yjs writes it into XML. Yjs fails for objects whose `toString` is no function. */
function writtenAs(value: unknown): string {
  try {
    return String(value);
  } catch {
    return OBJECT;
  }
}

/** Attributes in a tag, sorted by their names. */
const attributesOf = (attributes: object): string =>
  Object.entries(attributes)
    .sort(byName)
    .map(([name, value]) => ` ${name}="${writtenAs(value)}"`)
    .join("");

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** The characters that a rendering may still take. */
export class LengthBudget {
  #left: number;
  #isCut = false;

  constructor(maxLength: number) {
    this.#left = maxLength;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Takes up to `length` characters, and returns the number taken. Nothing follows a cut. */
  take(length: number): number {
    const taken = this.#isCut ? 0 : Math.min(length, this.#left);
    this.#left -= taken;
    if (taken < length) this.#isCut = true;
    return taken;
  }

  /** Takes all of these characters, or none. */
  takeAll(length: number): boolean {
    if (length > this.#left) this.#isCut = true;
    if (this.#isCut) return false;
    this.#left -= length;
    return true;
  }
}
