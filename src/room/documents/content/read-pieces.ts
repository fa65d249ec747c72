/** Reads the pieces of a document from its update, as yet in no order. */
import * as decoding from "lib0/decoding";
import type { ClockRange } from "../updates/id-set.ts";
import { ANY, JSONS, SKIP, TEXT } from "../updates/update-content.ts";
import {
  CONTENT_BITS,
  type Container,
  inOwnBuffer,
  type OperationId,
  readUpdate,
  type Struct,
} from "../updates/update-reader.ts";
import { findBoundaries } from "./boundaries.ts";
import { decoderAt } from "./decoder-at.ts";
import type { Lists } from "./lists.ts";
import { MISSING, NONE, Pieces } from "./pieces.ts";
import { walkText } from "./walk-text.ts";

export function readPieces(update: Uint8Array, lists: Lists): Pieces {
  const bytes = inOwnBuffer(update);
  const pieces = new Pieces(bytes, findBoundaries(bytes));
  const reader = new Reader(pieces, lists);
  readUpdate(bytes, {
    struct: (struct) => reader.add(struct),
    deleted: (range) => reader.delete(range),
  });
  return pieces;
}

class Reader {
  readonly #pieces: Pieces;
  readonly #lists: Lists;

  constructor(pieces: Pieces, lists: Lists) {
    this.#pieces = pieces;
    this.#lists = lists;
  }

  add(struct: Struct): void {
    const kind = struct.info & CONTENT_BITS;
    const pieces = this.#pieces;
    const first = pieces.find(struct);
    // An update may have something twice.
    if (kind === SKIP || pieces.kind[first] !== SKIP) return;
    const rightOrigin = this.#find(struct.rightOrigin);
    const content = new Content(pieces.bytes, kind, struct.contentStart);
    const end = struct.clock + struct.length;
    for (let piece = first; (pieces.clock[piece] ?? end) < end; piece += 1) {
      if (piece > first) content.skip(pieces.lengthOf(piece - 1));
      pieces.kind[piece] = kind;
      pieces.at[piece] = content.at;
      pieces.isBroken[piece] = content.isBroken ? 1 : 0;
      pieces.origin[piece] = piece === first ? this.#find(struct.origin) : piece - 1;
      pieces.rightOrigin[piece] = rightOrigin;
    }
    if (struct.container !== null) pieces.list[first] = this.#listOf(struct.container);
  }

  #find(id: OperationId | null): number {
    return id === null ? NONE : this.#pieces.find(id);
  }

  #listOf({ of, key }: Container): number {
    const type = typeof of === "string" ? of : this.#pieces.find(of);
    return type === MISSING ? MISSING : this.#lists.get(type, key);
  }

  delete({ client, start, end }: ClockRange): void {
    const pieces = this.#pieces;
    // One piece begins at its start, and another one, which may not be there, at its end.
    const first = pieces.find({ client, clock: start });
    for (let piece = first; (pieces.clock[piece] ?? end) < end; piece += 1) pieces.isDeleted[piece] = 1;
  }
}

/** Goes through the content of a struct. */
class Content {
  at: number;
  isBroken = false;
  readonly #bytes: Uint8Array;
  readonly #kind: number;

  constructor(bytes: Uint8Array, kind: number, start: number) {
    this.#bytes = bytes;
    this.#kind = kind;
    const decoder = decoderAt(bytes, start);
    // The length of a text, or how many values there are.
    if (kind === TEXT || kind === JSONS || kind === ANY) decoding.readVarUint(decoder);
    this.at = decoder.pos;
  }

  skip(operations: number): void {
    if (this.#kind === TEXT)
      [this.at, this.isBroken] = walkText(this.#bytes, this.at, operations - (this.isBroken ? 1 : 0));
    else if (this.#kind === JSONS || this.#kind === ANY) this.#skipValues(operations);
  }

  #skipValues(count: number): void {
    const decoder = decoderAt(this.#bytes, this.at);
    for (let index = 0; index < count; index += 1)
      if (this.#kind === ANY) decoding.readAny(decoder);
      else decoding.readVarUint8Array(decoder);
    this.at = decoder.pos;
  }
}
