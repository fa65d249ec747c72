/** The changes that others have made since a program has read a document. */
import * as Y from "yjs";
import { type Author, type AuthoredUpdate, isSameAuthor } from "../../types/documents.ts";
import { type Attribution, attribute } from "../history/attribution.ts";
import { badRequest } from "./edited-document.ts";

/** Operations that were inserted or deleted together. */
interface Change {
  readonly length: number;
  /** The others among their authors; none when they are not known. */
  readonly authors: readonly Author[];
}

export class ChangesOfOthers {
  readonly #read: ReadonlyMap<number, number>;
  readonly #attribution: Attribution;
  readonly #own: Author | null;

  /**
   * `state` is the state vector that the program `own` has read, and `since` are the updates beyond it, as far as they
   * are known. BAD_REQUEST for bytes that are no state vector.
   */
  constructor(state: Uint8Array, since: readonly AuthoredUpdate[], own: Author | null) {
    try {
      this.#read = Y.decodeStateVector(state);
    } catch {
      throw badRequest("base: it is no state vector of Yjs");
    }
    this.#attribution = attribute([], since);
    this.#own = own;
  }

  /** The operations from clock `from` to below `to` that others have inserted. */
  *inserted(client: number, from: number, to: number): Generator<Change> {
    for (let at = Math.max(from, this.#read.get(client) ?? 0); at < to; ) {
      const { value = [], end } = this.#attribution.inserted.at(client, at);
      const next = Math.min(to, end);
      if (!this.#isOwn(value)) yield { length: next - at, authors: this.#othersOf(value) };
      at = next;
    }
  }

  /** Whether others have deleted one of them since, be it what others had inserted since, too: folding tells no order. */
  hasDeleted(client: number, from: number, to: number): boolean {
    for (let at = from; at < to; ) {
      const { value, end } = this.#attribution.deleted.at(client, at);
      if (value !== undefined && !this.#isOwn(value)) return true;
      at = end;
    }
    return false;
  }

  /** The operations that the program knew, and others have deleted: not those that came and went since. */
  *deleted(client: number, from: number, to: number): Generator<Change> {
    const read = this.#read.get(client) ?? 0;
    for (let at = from; at < to; ) {
      const { value, end } = this.#attribution.deleted.at(client, at);
      const inserted = this.#attribution.inserted.at(client, at);
      const next = Math.min(to, end, at < read ? read : inserted.end);
      const wasKnown = at < read || this.#isOwn(inserted.value ?? []);
      if (wasKnown && value !== undefined && !this.#isOwn(value))
        yield { length: next - at, authors: this.#othersOf(value) };
      at = next;
    }
  }

  #othersOf(authors: readonly Author[]): Author[] {
    const own = this.#own;
    return authors.filter((author) => own === null || !isSameAuthor(author, own));
  }

  #isOwn(authors: readonly Author[]): boolean {
    return authors.length > 0 && this.#othersOf(authors).length === 0;
  }
}
