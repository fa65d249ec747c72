/** The operations and deletions of a document, which tell news from repetitions. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { withoutMarked } from "./compact-update.ts";
import { IdSet } from "./id-set.ts";
import type { UpdateContent } from "./update-reader.ts";

export class KnownContent {
  readonly #inserted: IdSet;
  readonly #deleted: IdSet;

  constructor(inserted = new IdSet(), deleted = new IdSet()) {
    this.#inserted = inserted;
    this.#deleted = deleted;
  }

  /** The number of stretches. */
  get size(): number {
    return this.#inserted.size + this.#deleted.size;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add({ inserted, deleted }: UpdateContent): void {
    this.#inserted.addAll(inserted);
    this.#deleted.addAll(deleted);
  }

  covers({ inserted, deleted }: UpdateContent): boolean {
    return (
      inserted.every((range) => this.#inserted.covers(range)) &&
      deleted.every((range) => this.#deleted.covers(range))
    );
  }

  /** The update without known operations: Yjs cannot read two versions of one that differ. */
  newsOf(update: Uint8Array, { inserted }: UpdateContent): Uint8Array {
    const isRepeated = inserted.some((range) => {
      const { value, end } = this.#inserted.at(range.client, range.start);
      return value === true || end < range.end;
    });
    return isRepeated ? withoutMarked(update, this.#inserted) : update;
  }

  /** Lists all operations and deletions. */
  content(): UpdateContent {
    return { inserted: [...this.#inserted.ranges()], deleted: [...this.#deleted.ranges()] };
  }

  encodeStateVector(): Uint8Array {
    return this.#inserted.encodeStateVector();
  }

  /** Reduces a state vector to clients that have inserted something. */
  narrow(stateVector: Uint8Array): Uint8Array {
    return this.#inserted.narrow(stateVector);
  }

  encode(): Uint8Array {
    return encoding.encode((encoder) => {
      this.#inserted.write(encoder);
      this.#deleted.write(encoder);
    });
  }

  /** Reads what {@link encode} returned. */
  static decode(data: Uint8Array): KnownContent {
    const decoder = decoding.createDecoder(data);
    return new KnownContent(IdSet.read(decoder), IdSet.read(decoder));
  }
}
