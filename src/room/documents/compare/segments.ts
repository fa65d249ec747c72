/** The difference of a text, as segments that were kept, inserted or deleted. */
import { AppError } from "../../../platform/errors.ts";
import { distinctAuthors } from "../../storage/authors.ts";
import type { Author } from "../../types/documents.ts";

/** Characters of JSON. */
const MAX_ANSWER_LENGTH = 8 * 1024 * 1024;
/** JSON around a difference, and around an author. */
const FRAME_LENGTH = 64;

export class Budget {
  #left = MAX_ANSWER_LENGTH;

  /** Spends characters of the answer. CONFLICT when it becomes too large. */
  spend(length: number, authors: readonly Author[]): void {
    this.#left -= length + FRAME_LENGTH * (1 + authors.length);
    if (this.#left < 0)
      throw new AppError("Rooms", "CONFLICT", "The versions differ in too much; compare closer ones");
  }
}

/** A stretch of text that was kept, inserted, deleted, or formatted in another way. */
export interface Segment {
  readonly op: "keep" | "insert" | "delete" | "format";
  /** Characters, the tag of an XML element, or JSON that is embedded in the text. */
  readonly kind: "text" | "tag" | "embed";
  readonly text: string;
  /** The authors; none for kept text, or if they are unknown. */
  readonly authors: readonly Author[];
}

export class Segments {
  readonly #budget: Budget;
  #list: Segment[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(segment: Segment): void {
    const last = this.#list.at(-1);
    if (last !== undefined && isSame(last, segment)) {
      this.#budget.spend(segment.text.length, []);
      this.#list[this.#list.length - 1] = { ...last, text: last.text + segment.text };
      return;
    }
    this.#budget.spend(segment.text.length, segment.authors);
    this.#list.push(segment);
  }

  /**
   * Returns the segments; none when all text was kept. Text that was deleted and written again in its place counts as
   * kept.
   */
  differences(): Segment[] {
    const raw = this.#list;
    this.#list = [];
    for (let at = 0; at < raw.length; ) {
      const start = at;
      while (isReplaced(raw[at])) at += 1;
      for (const segment of condense(raw.slice(start, at))) this.add(segment);
      const next = raw[at];
      if (next !== undefined) this.add(next);
      at += 1;
    }
    return this.#list.every(({ op }) => op === "keep") ? [] : this.#list;
  }
}

const isReplaced = (segment: Segment | undefined): boolean =>
  segment !== undefined && (segment.op === "insert" || segment.op === "delete");

const isSame = (one: Segment, other: Segment): boolean =>
  one.op === other.op &&
  one.kind === "text" &&
  other.kind === "text" &&
  distinctAuthors([...one.authors, ...other.authors]).length === one.authors.length &&
  one.authors.length === other.authors.length;

/** Condenses deletions, and the insertions that follow, by their common start and end. */
function condense(replaced: readonly Segment[]): Segment[] {
  const deleted = replaced.filter(({ op }) => op === "delete").reverse();
  const inserted = replaced.filter(({ op }) => op === "insert").reverse();
  const start = peel(deleted, inserted, commonStart);
  const end = peel(deleted.reverse(), inserted.reverse(), commonEnd).reverse();
  return [...start, ...deleted, ...inserted, ...end];
}

/** A side from which two texts are compared. */
interface Cut {
  /** The common length; surrogate pairs stay whole. */
  length(one: string, other: string): number;
  taken(text: string, length: number): string;
  rest(text: string, length: number): string;
}

const isIn = (unit: number, from: number): boolean => unit >= from && unit < from + 0x400;

const commonStart: Cut = {
  length(one, other) {
    let length = 0;
    while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
    return isIn(one.charCodeAt(length - 1), 0xd800) ? length - 1 : length;
  },
  taken: (text, length) => text.slice(0, length),
  rest: (text, length) => text.slice(length),
};

const commonEnd: Cut = {
  length(one, other) {
    let length = 0;
    const unit = (text: string) => text.charCodeAt(text.length - 1 - length);
    while (length < one.length && unit(one) === unit(other)) length += 1;
    return isIn(one.charCodeAt(one.length - length), 0xdc00) ? length - 1 : length;
  },
  taken: (text, length) => text.slice(text.length - length),
  rest: (text, length) => text.slice(0, text.length - length),
};

/** Takes the common ends of both lists, and returns them. */
function peel(deleted: Segment[], inserted: Segment[], cut: Cut): Segment[] {
  const kept: Segment[] = [];
  for (;;) {
    const [one, other] = [deleted.at(-1), inserted.at(-1)];
    if (one === undefined || other === undefined || one.kind !== other.kind) return kept;
    const isWhole = one.text === other.text;
    if (!isWhole && one.kind !== "text") return kept;
    const length = isWhole ? one.text.length : cut.length(one.text, other.text);
    if (length === 0) return kept;
    kept.push({ ...one, op: "keep", text: cut.taken(one.text, length), authors: [] });
    for (const list of [deleted, inserted]) {
      const last = list.pop();
      if (last !== undefined && last.text.length > length)
        list.push({ ...last, text: cut.rest(last.text, length) });
    }
  }
}
