/** Compacts an update: joins pieces that were inserted one after the other, and drops deleted content. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { CONTENT, readAny, readJsonOrUndefined } from "./content-reader.ts";
import { IdSet, RangeMap } from "./ranges.ts";
import { CONTENT_BITS, HAS_ORIGIN, type OperationId, readUpdate, type Struct } from "./update-reader.ts";

interface Piece extends Pick<Struct, "clock" | "origin" | "rightOrigin"> {
  length: number;
  readonly content: number;
  /** The info byte without its content bits. */
  readonly flags: number;
  /** Encoded origins and container. */
  readonly place: Uint8Array;
  readonly bytes: Uint8Array[];
  readonly isMarked: boolean;
}

/** Compacts an update to as few pieces as Yjs has. `dropsDeleted` drops deleted content, as Yjs' garbage collection. */
export function compactUpdate(update: Uint8Array, dropsDeleted: boolean): Uint8Array {
  const deleted = new RangeMap<true>();
  const deletionsStart = readUpdate(update, { deleted: (range) => deleted.fill(range, true) });
  const writer = new PieceWriter();
  readUpdate(update, {
    block: (client) => writer.begin(client),
    struct(struct) {
      // Only text is split for deletions within.
      const isText = (struct.info & CONTENT_BITS) === CONTENT.text;
      const { value, end } = deleted.at(struct.client, struct.clock);
      const isWhole = end >= struct.clock + struct.length;
      const pieces = isText
        ? cut(update, struct, deleted)
        : [{ ...wholePiece(update, struct), isMarked: isWhole && value === true }];
      for (const piece of pieces) writer.add(dropsDeleted && piece.isMarked ? withoutContent(piece) : piece);
    },
  });
  const compacted = writer.finish(update.subarray(deletionsStart));
  return compacted.length <= update.length ? compacted : update;
}

/** Stretches of each client's clocks. */
interface Marked {
  /** Tells whether an operation is marked, and up to which clock (exclusive) that holds. */
  at(client: number, clock: number): { readonly value: true | undefined; readonly end: number };
}

/** Removes operations that are marked, which become gaps, and deletions that are. */
export function withoutMarked(
  update: Uint8Array,
  { inserted, deleted }: { readonly inserted: Marked; readonly deleted: Marked },
): Uint8Array {
  const writer = new PieceWriter();
  const deletions = new IdSet();
  readUpdate(update, {
    block: (client) => writer.begin(client),
    struct(struct) {
      for (const piece of cut(update, struct, inserted)) writer.add(piece.isMarked ? gapFor(piece) : piece);
    },
    deleted({ client, start, end }) {
      for (let at = start; at < end; ) {
        const { value, end: until } = deleted.at(client, at);
        if (value === undefined) deletions.add({ client, start: at, end: Math.min(until, end) });
        at = until;
      }
    },
  });
  return writer.finish(encodeDeletions(deletions));
}

/** Deletions as an update ends with them. */
export function encodeDeletions(deletions: IdSet): Uint8Array {
  const byClient = Map.groupBy(deletions.ranges(), ({ client }) => client);
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, byClient.size);
    for (const [client, ranges] of byClient) {
      encoding.writeVarUint(encoder, client);
      encoding.writeVarUint(encoder, ranges.length);
      for (const { start, end } of ranges) {
        encoding.writeVarUint(encoder, start);
        encoding.writeVarUint(encoder, end - start);
      }
    }
  });
}

/** Cuts a struct into marked and unmarked pieces. Half of a surrogate pair becomes U+FFFD, as in Yjs. */
function* cut(update: Uint8Array, struct: Struct, marked: Marked): Generator<Piece> {
  const { client, clock, length, rightOrigin } = struct;
  const whole = wholePiece(update, struct);
  const first = marked.at(client, clock);
  if (first.end >= clock + length) {
    yield { ...whole, isMarked: first.value === true };
    return;
  }
  const hasPlace = whole.content !== CONTENT.collected && whole.content !== CONTENT.skip;
  const take = contentReader(whole.content, update.subarray(struct.contentStart, struct.end));
  for (let at = 0; at < length; ) {
    const { value, end } = marked.at(client, clock + at);
    const until = Math.min(length, end - clock);
    const origin = { client, clock: clock + at - 1 };
    const place = { origin, flags: whole.flags | HAS_ORIGIN, place: encodePlace(origin, rightOrigin) };
    yield {
      ...whole,
      ...(hasPlace && at > 0 && place),
      clock: clock + at,
      length: until - at,
      bytes: take(until - at),
      isMarked: value === true,
    };
    at = until;
  }
}

function wholePiece(update: Uint8Array, { info, contentStart, end, ...struct }: Struct): Piece {
  const content = info & CONTENT_BITS;
  const bytes = update.subarray(contentStart, end);
  return {
    ...struct,
    content,
    flags: info & ~CONTENT_BITS,
    place: update.subarray(struct.start + 1, contentStart),
    bytes: hasLengthOnly(content) ? [] : [isJoinable(content) ? withoutLength(bytes) : bytes],
    isMarked: false,
  };
}

/** Returns the content of the next operations with each call. All other contents are one operation. */
function contentReader(content: number, bytes: Uint8Array): (operations: number) => Uint8Array[] {
  if (hasLengthOnly(content)) return () => [];
  if (content === CONTENT.text) {
    const text = utf8.decode(withoutLength(bytes));
    let at = 0;
    return (operations) => {
      const start = at;
      at += operations;
      return [toUtf8.encode(text.slice(start, at))];
    };
  }
  const decoder = decoding.createDecoder(bytes);
  decoding.readVarUint(decoder);
  return (operations) => {
    const start = decoder.pos;
    for (let left = operations; left > 0; left -= 1)
      if (content === CONTENT.any) readAny(decoder);
      else readJsonOrUndefined(decoder);
    return [bytes.subarray(start, decoder.pos)];
  };
}

/** Strict and with byte order marks, as lib0. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const toUtf8 = new TextEncoder();

const hasLengthOnly = (content: number): boolean =>
  content === CONTENT.collected || content === CONTENT.deleted || content === CONTENT.skip;

/** Tells whether a content has several operations, after their length. */
const isJoinable = (content: number): boolean =>
  content === CONTENT.text || content === CONTENT.any || content === CONTENT.jsons;

function withoutLength(bytes: Uint8Array): Uint8Array {
  const lengthEnd = bytes.findIndex((byte) => byte < 0x80);
  return bytes.subarray(lengthEnd + 1);
}

const gapFor = (piece: Piece): Piece => ({
  ...piece,
  content: CONTENT.skip,
  flags: 0,
  place: new Uint8Array(),
  bytes: [],
});

function withoutContent(piece: Piece): Piece {
  if (hasLengthOnly(piece.content)) return piece;
  return { ...piece, content: CONTENT.deleted, bytes: [] };
}

function encodePlace(origin: OperationId, rightOrigin: OperationId | null): Uint8Array {
  return encoding.encode((encoder) => {
    for (const id of rightOrigin === null ? [origin] : [origin, rightOrigin]) {
      encoding.writeVarUint(encoder, id.client);
      encoding.writeVarUint(encoder, id.clock);
    }
  });
}

/** Writes pieces one by one: an update may have a million. */
class PieceWriter {
  readonly #blocks = encoding.createEncoder();
  #blockCount = 0;
  #client = 0;
  #block = encoding.createEncoder();
  #firstClock = 0;
  #pieces = 0;
  #last: Piece | null = null;

  begin(client: number): void {
    this.#endBlock();
    this.#client = client;
  }

  add(piece: Piece): void {
    const last = this.#last;
    if (last !== null && this.#continues(last, piece)) {
      last.length += piece.length;
      last.bytes.push(...piece.bytes);
      return;
    }
    this.#writeLast();
    this.#last = piece;
  }

  finish(deletions: Uint8Array): Uint8Array {
    this.#endBlock();
    return encoding.encode((encoder) => {
      encoding.writeVarUint(encoder, this.#blockCount);
      encoding.writeUint8Array(encoder, encoding.toUint8Array(this.#blocks));
      encoding.writeUint8Array(encoder, deletions);
    });
  }

  /** Tells whether Yjs would have both as one item. */
  #continues(last: Piece, piece: Piece): boolean {
    const { content } = piece;
    if (last.content !== content) return false;
    if (content === CONTENT.collected) return true;
    if (content !== CONTENT.deleted && (!isJoinable(content) || last.isMarked !== piece.isMarked))
      return false;
    const previous = { client: this.#client, clock: piece.clock - 1 };
    return isSame(piece.origin, previous) && isSame(piece.rightOrigin, last.rightOrigin);
  }

  #writeLast(): void {
    if (this.#last === null) return;
    if (this.#pieces === 0) this.#firstClock = this.#last.clock;
    writePiece(this.#block, this.#last);
    this.#pieces += 1;
    this.#last = null;
  }

  #endBlock(): void {
    this.#writeLast();
    if (this.#pieces === 0) return;
    encoding.writeVarUint(this.#blocks, this.#pieces);
    encoding.writeVarUint(this.#blocks, this.#client);
    encoding.writeVarUint(this.#blocks, this.#firstClock);
    encoding.writeUint8Array(this.#blocks, encoding.toUint8Array(this.#block));
    this.#blockCount += 1;
    this.#block = encoding.createEncoder();
    this.#pieces = 0;
  }
}

const isSame = (one: OperationId | null, other: OperationId | null): boolean =>
  one === other || (one?.client === other?.client && one?.clock === other?.clock);

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function writePiece(encoder: encoding.Encoder, { content, flags, place, bytes, length }: Piece): void {
  encoding.writeUint8(encoder, flags | content);
  encoding.writeUint8Array(encoder, place);
  if (hasLengthOnly(content)) encoding.writeVarUint(encoder, length);
  if (isJoinable(content))
    encoding.writeVarUint(encoder, content === CONTENT.text ? lengthOf(bytes) : length);
  for (const part of bytes) encoding.writeUint8Array(encoder, part);
}
