/** Makes an update smaller that does the same: what was inserted in one place piece by piece becomes one, and deleted content can go. */
import * as encoding from "lib0/encoding";
import { RangeMap } from "./range-map.ts";
import { COLLECTED, DELETED, SKIP, TEXT } from "./update-content.ts";
import { CONTENT_BITS, HAS_ORIGIN, type OperationId, readUpdate, type Struct } from "./update-reader.ts";

/** What an update will have as one. */
interface Piece extends Pick<Struct, "clock" | "origin" | "rightOrigin"> {
  length: number;
  readonly content: number;
  /** The info byte without its content bits. */
  readonly flags: number;
  /** Where it was inserted, encoded. */
  readonly place: Uint8Array;
  /** Its content, encoded: of a text without its length. Empty where the length says it all. */
  readonly bytes: Uint8Array[];
  readonly isDeleted: boolean;
}

/**
 * The update with as few pieces as Yjs would have of it. With `dropsDeleted`, what it deletes itself has no content any
 * more, as after Yjs' own garbage collection: every operation stays, with its place.
 */
export function compactUpdate(update: Uint8Array, dropsDeleted: boolean): Uint8Array {
  const deleted = new RangeMap<true>();
  const deletionsStart = readUpdate(update, {
    struct: () => undefined,
    deleted: (range) => deleted.fill(range, true),
  });
  const cutter = new Cutter(update, deleted, dropsDeleted);
  const writer = new Writer();
  readUpdate(update, {
    block: (client) => writer.begin(client),
    struct(struct) {
      for (const piece of cutter.cut(struct)) writer.add(piece);
    },
    deleted: () => undefined,
  });
  const compacted = writer.finish(update.subarray(deletionsStart));
  return compacted.length <= update.length ? compacted : update;
}

/** Cuts structs where what is deleted begins and ends. */
class Cutter {
  readonly #update: Uint8Array;
  readonly #deleted: RangeMap<true>;
  readonly #dropsDeleted: boolean;

  constructor(update: Uint8Array, deleted: RangeMap<true>, dropsDeleted: boolean) {
    this.#update = update;
    this.#deleted = deleted;
    this.#dropsDeleted = dropsDeleted;
  }

  cut(struct: Struct): Piece[] {
    const { value, end } = this.#deleted.at(struct.client, struct.clock);
    const isWhole = end >= struct.clock + struct.length;
    if ((struct.info & CONTENT_BITS) === TEXT && !isWhole) return this.#cutText(struct);
    const whole = this.#whole(struct, isWhole && value === true);
    return [this.#dropsDeleted && whole.isDeleted ? withoutContent(whole) : whole];
  }

  #whole({ info, contentStart, end, ...struct }: Struct, isDeleted: boolean): Piece {
    const content = info & CONTENT_BITS;
    const bytes = this.#update.subarray(contentStart, end);
    return {
      ...struct,
      content,
      flags: info & ~CONTENT_BITS,
      place: this.#update.subarray(struct.start + 1, contentStart),
      bytes: hasLengthOnly(content) ? [] : [content === TEXT ? textOf(bytes) : bytes],
      isDeleted,
    };
  }

  /** Text of which some is deleted. A character that has two clocks, of which one is, becomes what Yjs makes of it. */
  #cutText(struct: Struct): Piece[] {
    const { client, clock, length, rightOrigin } = struct;
    const whole = this.#whole(struct, false);
    const text = utf8.decode(whole.bytes[0]);
    const pieces: Piece[] = [];
    for (let at = 0; at < length; ) {
      const { value, end } = this.#deleted.at(client, clock + at);
      const until = Math.min(length, end - clock);
      const origin = at === 0 ? struct.origin : { client, clock: clock + at - 1 };
      const piece: Piece = {
        clock: clock + at,
        length: until - at,
        origin,
        rightOrigin,
        content: TEXT,
        flags: at === 0 ? whole.flags : whole.flags | HAS_ORIGIN,
        place: at === 0 || origin === null ? whole.place : encodePlace(origin, rightOrigin),
        bytes: [toUtf8.encode(text.slice(at, until))],
        isDeleted: value === true,
      };
      pieces.push(this.#dropsDeleted && piece.isDeleted ? withoutContent(piece) : piece);
      at = until;
    }
    return pieces;
  }
}

/** As lib0 reads strings. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const toUtf8 = new TextEncoder();

const hasLengthOnly = (content: number): boolean =>
  content === COLLECTED || content === DELETED || content === SKIP;

/** The text behind its length. */
function textOf(bytes: Uint8Array): Uint8Array {
  const lengthEnd = bytes.findIndex((byte) => byte < 0x80);
  return bytes.subarray(lengthEnd + 1);
}

function withoutContent(piece: Piece): Piece {
  if (hasLengthOnly(piece.content)) return piece;
  return { ...piece, content: DELETED, bytes: [] };
}

function encodePlace(origin: OperationId, rightOrigin: OperationId | null): Uint8Array {
  return encoding.encode((encoder) => {
    for (const id of rightOrigin === null ? [origin] : [origin, rightOrigin]) {
      encoding.writeVarUint(encoder, id.client);
      encoding.writeVarUint(encoder, id.clock);
    }
  });
}

/** Writes pieces, one of which is in memory: an update may have a million. */
class Writer {
  readonly #blocks = encoding.createEncoder();
  #blockCount = 0;
  #client = 0;
  #block = encoding.createEncoder();
  #firstClock = 0;
  #pieces = 0;
  #last: Piece | null = null;

  /** What one client inserted follows. */
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

  /** Whether Yjs would have made both of one that it had to cut here. */
  #continues(last: Piece, piece: Piece): boolean {
    const { content } = piece;
    if (last.content !== content) return false;
    if (content === COLLECTED) return true;
    if (content !== DELETED && (content !== TEXT || last.isDeleted !== piece.isDeleted)) return false;
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
  if (content === TEXT) encoding.writeVarUint(encoder, lengthOf(bytes));
  for (const part of bytes) encoding.writeUint8Array(encoder, part);
}
