/** Reads the operations of an update (v1) one by one, and refuses bytes that Yjs could not read. */

import * as decoding from "lib0/decoding";
import { AppError } from "../../../platform/errors.ts";
import { isTooDeep } from "../../../platform/text.ts";
import { DOCUMENT_LIMITS } from "./limits.ts";
import type { ClockRange } from "./ranges.ts";

export interface OperationId {
  readonly client: number;
  readonly clock: number;
}

/** Operations that were inserted together, or a gap. */
export interface Struct extends OperationId {
  readonly length: number;
  readonly info: number;
  /** The left and the right neighbor at the time of the insertion. */
  readonly origin: OperationId | null;
  readonly rightOrigin: OperationId | null;
  /** Offsets in the update; `end` is exclusive. */
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

interface UpdateVisitor {
  /** Structs of one client follow. */
  block?(client: number): void;
  struct?(struct: Struct): void;
  deleted?(range: ClockRange): void;
}

/** The kinds of content of a struct. */
export const CONTENT = {
  collected: 0,
  deleted: 1,
  jsons: 2,
  binary: 3,
  text: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  subdocument: 9,
  skip: 10,
} as const;

/** The bits of the info byte that tell the content. */
export const CONTENT_BITS = 0b0001_1111;
export const HAS_ORIGIN = 0b1000_0000;
const HAS_RIGHT_ORIGIN = 0b0100_0000;
const HAS_PARENT_KEY = 0b0010_0000;

type Decoder = decoding.Decoder;

/** Yjs fails for good on a reference to a later operation of the same client. */
function readId(decoder: Decoder, of: OperationId): OperationId {
  const client = decoding.readVarUint(decoder);
  const clock = decoding.readVarUint(decoder);
  if (client === of.client && clock >= of.clock)
    throw new MalformedUpdate("an operation refers to a later one");
  return { client, clock };
}

function readStruct(decoder: Decoder, id: OperationId): Struct {
  const start = decoder.pos;
  const info = decoding.readUint8(decoder);
  requireInside(decoder);
  const content = info & CONTENT_BITS;
  // Merging, Yjs takes a gap with other bits for an item, and fails on it for good.
  if (content === CONTENT.skip && info !== CONTENT.skip) throw new MalformedUpdate("a gap is no item");
  let [origin, rightOrigin]: [OperationId | null, OperationId | null] = [null, null];
  const isItem = content !== CONTENT.collected && content !== CONTENT.skip;
  if (isItem) {
    if (info & HAS_ORIGIN) origin = readId(decoder, id);
    if (info & HAS_RIGHT_ORIGIN) rightOrigin = readId(decoder, id);
    if (origin === null && rightOrigin === null) skipContainer(decoder, id, info);
  }
  const contentStart = decoder.pos;
  const length = isItem ? readContent(decoder, content) : decoding.readVarUint(decoder);
  requireInside(decoder);
  requireLength(id.clock, length);
  return { ...id, length, info, origin, rightOrigin, start, contentStart, end: decoder.pos };
}

/** The container of an item without neighbors: a type of the document, or of an item; in a map, with a key. */
function skipContainer(decoder: Decoder, id: OperationId, info: number): void {
  const isRoot = decoding.readVarUint(decoder) === 1;
  if (isRoot) readText(decoder);
  else readId(decoder, id);
  if (info & HAS_PARENT_KEY) readText(decoder);
}

function requireLength(clock: number, length: number): void {
  if (length === 0 || !Number.isSafeInteger(clock + length))
    throw new MalformedUpdate("a length is out of range");
}

/** Yjs loses operations when it merges updates whose clients are not in descending order. */
function readStructs(decoder: Decoder, visitor: UpdateVisitor): void {
  let last = Number.POSITIVE_INFINITY;
  repeat(decoder, () => {
    const structs = decoding.readVarUint(decoder);
    const client = decoding.readVarUint(decoder);
    if (client >= last) throw new MalformedUpdate("its clients are not in descending order");
    last = client;
    let clock = decoding.readVarUint(decoder);
    visitor.block?.(client);
    for (let index = 0; index < structs; index += 1) {
      const struct = readStruct(decoder, { client, clock });
      visitor.struct?.(struct);
      clock += struct.length;
    }
  });
}

function readDeleted(decoder: Decoder, visitor: UpdateVisitor): void {
  repeat(decoder, () => {
    const client = decoding.readVarUint(decoder);
    repeat(decoder, () => {
      const start = decoding.readVarUint(decoder);
      const length = decoding.readVarUint(decoder);
      requireLength(start, length);
      visitor.deleted?.({ client, start, end: start + length });
    });
  });
}

/** lib0 reads numbers through views of the whole buffer. */
const inOwnBuffer = (bytes: Uint8Array): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();

/** Visits the parts of an update, and returns the offset of its deletions. Throws a {@link MalformedUpdate}. */
export function readUpdate(update: Uint8Array, visitor: UpdateVisitor): number {
  try {
    const decoder = decoding.createDecoder(inOwnBuffer(update));
    readStructs(decoder, visitor);
    const deletionsStart = decoder.pos;
    readDeleted(decoder, visitor);
    if (decoding.hasContent(decoder)) throw new MalformedUpdate("bytes follow its end");
    return deletionsStart;
  } catch (error) {
    if (error instanceof MalformedUpdate) throw error;
    throw new MalformedUpdate(error instanceof Error ? error.message : "it cannot be read");
  }
}

/** The operations that an update inserts, and those that it deletes. */
export interface UpdateContent {
  readonly inserted: readonly ClockRange[];
  readonly deleted: readonly ClockRange[];
}

/** Extends the last range, or begins another one. */
function append(ranges: ClockRange[], range: ClockRange): void {
  const last = ranges.at(-1);
  if (last?.client === range.client && last.end === range.start)
    ranges[ranges.length - 1] = { ...last, end: range.end };
  else ranges.push(range);
}

/** Lists the operations of an update. Throws a {@link MalformedUpdate} for bytes that Yjs could not read whole. */
export function scanUpdate(update: Uint8Array): UpdateContent {
  const [inserted, deleted]: [ClockRange[], ClockRange[]] = [[], []];
  readUpdate(update, {
    struct({ client, clock, length, info }) {
      if ((info & CONTENT_BITS) !== CONTENT.skip)
        append(inserted, { client, start: clock, end: clock + length });
    },
    deleted: (range) => append(deleted, range),
  });
  return { inserted, deleted };
}

/** Shared types with a name of their own: XML elements and hooks. */
const NAMED_TYPES: ReadonlySet<number> = new Set([3, 5]);
const LAST_TYPE = 6;

function readContent(decoder: Decoder, content: number): number {
  switch (content) {
    case CONTENT.deleted:
      return decoding.readVarUint(decoder);
    case CONTENT.jsons:
      return repeat(decoder, readJsonOrUndefined);
    case CONTENT.binary:
      decoding.readVarUint8Array(decoder);
      return 1;
    case CONTENT.text:
      return readText(decoder).length;
    case CONTENT.embed:
      readJson(decoder);
      return 1;
    case CONTENT.format:
      readText(decoder);
      readJson(decoder);
      return 1;
    case CONTENT.type:
      readType(decoder);
      return 1;
    case CONTENT.any:
      return repeat(decoder, () => readAny(decoder));
    case CONTENT.subdocument:
      readText(decoder);
      readOptions(decoder);
      return 1;
    default:
      throw new MalformedUpdate(`content ${content} is unknown`);
  }
}

/** Yjs spreads these options into a document and writes its GUID again: anything else would make the update unreadable. */
function readOptions(decoder: Decoder): void {
  const start = decoder.pos;
  readAny(decoder);
  const options: unknown = decoding.readAny(decoding.createDecoder(decoder.arr.subarray(start, decoder.pos)));
  const isObject = typeof options === "object" && options !== null;
  if (!isObject || ("guid" in options && typeof options.guid !== "string"))
    throw new MalformedUpdate("the options of a subdocument are not an object");
}

function readType(decoder: Decoder): void {
  const type = decoding.readVarUint(decoder);
  if (type > LAST_TYPE) throw new MalformedUpdate(`type ${type} is unknown`);
  if (NAMED_TYPES.has(type)) readText(decoder);
}

/** Bytes that are not an update: VALIDATION_ERROR. */
export class MalformedUpdate extends AppError {
  constructor(why: string) {
    super("Rooms", "VALIDATION_ERROR", `update: is not a Yjs update (v1): ${why}`);
  }
}

/** lib0 reads some values beyond the end of its bytes without a complaint. */
function requireInside({ pos, arr }: Decoder): void {
  if (pos > arr.length) throw new MalformedUpdate("it is cut off");
}

const readText = (decoder: Decoder): string => {
  const bytes = decoding.readVarUint8Array(decoder);
  requireInside(decoder);
  return utf8.decode(bytes);
};
/** As lib0 reads strings. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a number of items, after their count, and returns it. */
const repeat = (decoder: Decoder, read: (decoder: Decoder) => void): number => {
  const count = decoding.readVarUint(decoder);
  for (let index = 0; index < count; index += 1) {
    read(decoder);
    requireInside(decoder);
  }
  return count;
};

const tooDeep = () =>
  new MalformedUpdate(`a value nests more than ${DOCUMENT_LIMITS.valueDepth} levels deep`);

/** Yjs writes JSON by recursion: a deeper value could never be merged or sent. */
const readJson = (decoder: Decoder): void => parse(readText(decoder));

export const readJsonOrUndefined = (decoder: Decoder): void => {
  const text = readText(decoder);
  if (text !== "undefined") parse(text);
};

function parse(json: string): void {
  if (isTooDeep(json, DOCUMENT_LIMITS.valueDepth)) throw tooDeep();
  JSON.parse(json);
}

/** Tags of values in the encoding of lib0. */
const TAG = {
  undefined: 127,
  null: 126,
  integer: 125,
  float32: 124,
  float64: 123,
  bigint: 122,
  false: 121,
  true: 120,
  string: 119,
  object: 118,
  array: 117,
  bytes: 116,
} as const;

/** Skips a value in the encoding of lib0, which Yjs reads and writes by recursion. */
export function readAny(decoder: Decoder, levels = DOCUMENT_LIMITS.valueDepth): void {
  switch (decoding.readUint8(decoder)) {
    case TAG.undefined:
    case TAG.null:
    case TAG.false:
    case TAG.true:
      return;
    case TAG.integer:
      decoding.readVarInt(decoder);
      return;
    case TAG.float32:
      decoder.pos += 4;
      return;
    case TAG.float64:
    case TAG.bigint:
      decoder.pos += 8;
      return;
    case TAG.string:
      readText(decoder);
      return;
    case TAG.bytes:
      decoding.readVarUint8Array(decoder);
      return;
    case TAG.array:
      if (levels === 0) throw tooDeep();
      repeat(decoder, () => readAny(decoder, levels - 1));
      return;
    case TAG.object:
      if (levels === 0) throw tooDeep();
      repeat(decoder, () => {
        readText(decoder);
        readAny(decoder, levels - 1);
      });
      return;
    default:
      throw new MalformedUpdate("a value has an unknown type");
  }
}
