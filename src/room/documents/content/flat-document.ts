/** A document as Yjs would show it, in a fraction of the memory, for reading only. */
import { DELETED } from "../updates/update-content.ts";
import { arrange } from "./arrange.ts";
import { Lists } from "./lists.ts";
import { NONE, type Pieces } from "./pieces.ts";
import { readPieces } from "./read-pieces.ts";

/** A shared type: one of the document's own by its name, or another one by the piece that made it. */
export type TypePlace = string | number;

export class FlatDocument {
  readonly pieces: Pieces;
  readonly #lists = new Lists();

  /** From one update. CONFLICT when it has too many pieces. */
  constructor(update: Uint8Array) {
    this.pieces = readPieces(update, this.#lists);
    arrange(this.pieces, this.#lists);
  }

  /** The names of its own shared types. */
  get names(): readonly string[] {
    return this.#lists.names();
  }

  /** All that a shared type has in its order, deleted pieces included. */
  *piecesOf(type: TypePlace): Generator<number> {
    const list = this.#lists.members(type)?.list ?? NONE;
    for (let piece = this.#lists.head[list] ?? NONE; piece !== NONE; piece = this.pieces.next[piece] ?? NONE)
      yield piece;
  }

  /** What a shared type shows in its order. */
  *shownIn(type: TypePlace): Generator<number> {
    for (const piece of this.piecesOf(type)) if (this.isShown(piece)) yield piece;
  }

  /** The entries of a map, or the attributes of an element; of each, the piece whose last value it is. */
  *entriesOf(type: TypePlace): Generator<readonly [key: string, piece: number]> {
    for (const [key, list] of this.#lists.members(type)?.entries ?? []) {
      const latest = this.#lists.tail[list] ?? NONE;
      if (latest !== NONE && this.isShown(latest)) yield [key, latest];
    }
  }

  /** Whether a shared type has, or had, entries. */
  hasEntries(type: TypePlace): boolean {
    const entries = this.#lists.members(type)?.entries.values() ?? [];
    return [...entries].some((list) => this.#lists.tail[list] !== NONE);
  }

  isShown(piece: number): boolean {
    return this.pieces.isDeleted[piece] === 0 && this.pieces.kind[piece] !== DELETED;
  }
}
