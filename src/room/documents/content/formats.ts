/** The formats at a position in a text, as tags of Yjs. */

export class Formats {
  readonly #values = new Map<string, unknown>();

  /** Passes a mark with which a format begins or ends. */
  pass({ key, value }: { readonly key: string; readonly value: unknown }): void {
    if (value === null) this.#values.delete(key);
    else this.#values.set(key, value);
  }

  /** The tags around the current position. */
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
export const OBJECT = "[object Object]";

/** A value as Yjs writes it into XML. Yjs fails for objects whose `toString` is no function. */
export function writtenAs(value: unknown): string {
  try {
    return String(value);
  } catch {
    return OBJECT;
  }
}

/** Attributes in a tag, sorted by their names. */
export const attributesOf = (attributes: object): string =>
  Object.entries(attributes)
    .sort(byName)
    .map(([name, value]) => ` ${name}="${writtenAs(value)}"`)
    .join("");

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;
