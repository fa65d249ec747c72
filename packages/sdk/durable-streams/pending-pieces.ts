/** Pieces that wait to be sent, and the bodies that carry them. */
import { invalid } from "../core/error.ts";
import { byteLength, toJson } from "../core/json.ts";
import { type ContentKind, concatenated } from "./content.ts";

/** The size of one append, in bytes. */
export const MAX_CHUNK_BYTES = 1024 * 1024;

/** A text, bytes, or any other value as its JSON. */
type Piece = string | Uint8Array | Json;

class Json {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

type Body = string | Uint8Array<ArrayBuffer>;

const TOO_LARGE = `value must have at most ${MAX_CHUNK_BYTES} bytes`;
const encoder = new TextEncoder();

export class PendingPieces {
  #pieces: Piece[] = [];
  /** Of the waiting pieces, roughly in bytes. */
  size = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Adds a value as it is now. Throws VALIDATION_ERROR for one that the stream's type does not have, as far as it is known. */
  add(value: unknown, kind: ContentKind | null): void {
    const piece = pieceOf(value);
    if (kind !== null) PARTS[kind](piece);
    if (kind === "json" || piece instanceof Json) requireSize(jsonOf(piece));
    const { length } = piece instanceof Json ? piece.json : piece;
    if (length === 0 && kind !== null && kind !== "json") return;
    this.#pieces.push(piece);
    this.size += length;
  }

  /**
   * Takes as many pieces as one append can have; null for none. Half of a character waits for its other half, unless `isLast`. Throws
   * VALIDATION_ERROR for a piece that the stream's type does not have.
   */
  take(kind: ContentKind, isLast: boolean): Body | null {
    const body =
      kind === "json" ? this.#takeMessages() : kind === "text" ? this.#takeText(isLast) : this.#takeBytes();
    this.size = Math.max(0, this.size - (body?.length ?? 0));
    if (this.isEmpty) this.size = 0;
    return body;
  }

  #takeMessages(): string | null {
    let body = "";
    let bytes = 2;
    let count = 0;
    for (const piece of this.#pieces) {
      const json = jsonOf(piece);
      bytes += byteLength(json) + 1;
      if (bytes > MAX_CHUNK_BYTES) break;
      body += (count === 0 ? "" : ",") + json;
      count += 1;
    }
    if (count === 0 && this.#pieces.length > 0) throw invalid("Streams", TOO_LARGE);
    this.#pieces.splice(0, count);
    return count === 0 ? null : `[${body}]`;
  }

  #takeText(isLast: boolean): Body | null {
    const text = this.#pieces.map(textOf).join("");
    const isHalf = !isLast && /[\ud800-\udbff]$/.test(text);
    const whole = isHalf ? text.slice(0, -1) : text;
    const buffer = new Uint8Array(Math.min(MAX_CHUNK_BYTES, whole.length * 3));
    // It writes whole characters only.
    const { read, written } = encoder.encodeInto(whole, buffer);
    const rest = text.slice(read);
    this.#pieces = rest === "" ? [] : [rest];
    return written === 0 ? null : buffer.subarray(0, written);
  }

  #takeBytes(): Body | null {
    const all = concatenated(this.#pieces.map(bytesOf));
    const rest = all.subarray(MAX_CHUNK_BYTES);
    this.#pieces = rest.length === 0 ? [] : [rest];
    return all.length === 0 ? null : all.subarray(0, MAX_CHUNK_BYTES);
  }
}

function pieceOf(value: unknown): Piece {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return value.slice();
  return new Json(toJson(value, "Streams"));
}

/** An append has brackets around its messages. */
function requireSize(json: string): void {
  if (byteLength(json) + 3 > MAX_CHUNK_BYTES) throw invalid("Streams", TOO_LARGE);
}

function jsonOf(piece: Piece): string {
  if (piece instanceof Uint8Array) throw invalid("Streams", "value must be JSON, and bytes are not");
  return piece instanceof Json ? piece.json : JSON.stringify(piece);
}

function textOf(piece: Piece): string {
  if (typeof piece === "string") return piece;
  throw invalid("Streams", "value must be a text, as the stream is one");
}

function bytesOf(piece: Piece): Uint8Array {
  if (piece instanceof Uint8Array) return piece;
  throw invalid("Streams", "value must be a Uint8Array, as the stream is neither text nor JSON");
}

/** Readers of a piece, which refuse a piece of another type. */
const PARTS = { json: jsonOf, text: textOf, bytes: bytesOf };
