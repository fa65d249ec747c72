/** Texts with their formats, as a reviewer reads them: XML in which nothing of a format or an embedded value is left out. */
import { AppError } from "@atrium/contract/errors.ts";
import { LengthBudget, OpenFormats } from "../content/text-rendering.ts";
import { jsonOf } from "../updates/built-document.ts";

type Tags = ReturnType<OpenFormats["tags"]>;

const NO_TAGS: Tags = { opening: "", closing: "" };

/** A value of an attribute: Yjs would write an object as no more than that. */
export const shownValue = (value: unknown): string =>
  typeof value === "string" ? value : (jsonOf(value) ?? "null");

/** The attributes of a format's tag: Yjs would write a text letter by letter. */
function shownFormat(value: unknown): unknown {
  if (value === null || value === true) return value;
  if (typeof value !== "object" || Array.isArray(value)) return { value: shownValue(value) };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shownValue(inner)]));
}

/** The length of all tags of a comparison: many around each character would take the square of the document. */
const MAX_TAGS_LENGTH = 4 * 1024 * 1024;

export class TagBudget {
  readonly #left = new LengthBudget(MAX_TAGS_LENGTH);

  /** CONFLICT when nothing is left. */
  spend({ opening, closing }: Tags): void {
    if (!this.#left.takeAll(opening.length + closing.length))
      throw new AppError("Rooms", "CONFLICT", "The document has too many formats to be shown");
  }
}

/** The formats at a place of a text. */
export class ShownFormats {
  readonly #open = new OpenFormats();
  #tags: Tags | null = NO_TAGS;

  pass({ key, value }: { readonly key: string; readonly value: unknown }): void {
    this.#open.pass({ key, value: shownFormat(value) });
    this.#tags = null;
  }

  /** The tags around text at this place. CONFLICT when the budget is spent. */
  tags(budget: TagBudget): Tags {
    if (this.#tags === null) {
      this.#tags = this.#open.tags();
      budget.spend(this.#tags);
    }
    return this.#tags;
  }
}

interface Stretch {
  readonly tags: Tags;
  readonly isValue: boolean;
  text: string;
}

export class ShownText {
  readonly #stretches: Stretch[] = [];

  add(text: string, tags = NO_TAGS): void {
    this.#add(text, tags, false);
  }

  /** Values that follow each other are separated by commas. */
  addValue(json: string, tags = NO_TAGS): void {
    this.#add(json, tags, true);
  }

  #add(text: string, tags: Tags, isValue: boolean): void {
    const last = this.#stretches.at(-1);
    if (last?.tags.opening === tags.opening && last.isValue === isValue)
      last.text += isValue ? `,${text}` : text;
    else this.#stretches.push({ tags, isValue, text });
  }

  /** The XML; null for nothing. */
  get xml(): string | null {
    if (this.#stretches.length === 0) return null;
    return this.#stretches.map(({ tags, text }) => `${tags.opening}${text}${tags.closing}`).join("");
  }
}
