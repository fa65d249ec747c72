/** Reads the operations of a Yjs update (v1) one after the other, and refuses what Yjs could not read, without building anything of it. */
import * as decoding from "lib0/decoding";
import { AppError } from "../../platform/errors.ts";
import type { ClockRange } from "./id-set.ts";

/** Bytes that are not an update: VALIDATION_ERROR. */
export class MalformedUpdate extends AppError {
  constructor(why: string) {
    super("Rooms", "VALIDATION_ERROR", `update: is not a Yjs update (v1): ${why}`);
  }
}

/** An operation's name. */
export interface OperationId {
  readonly client: number;
  readonly clock: number;
}

/** Operations that an update has as one: what was inserted together, or a gap. */
export interface Struct extends OperationId {
  /** Of clocks. */
  readonly length: number;
  readonly info: number;
  /** What stood to the left and to the right of it when it was inserted. */
  readonly origin: OperationId | null;
  readonly rightOrigin: OperationId | null;
  /** In the bytes of the update: where it begins, where its content does, and where it ends (exclusive). */
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

/** What is called for each part of an update, in its order. */
interface UpdateVisitor {
  /** Structs of one client follow. */
  block?(client: number): void;
  struct(struct: Struct): void;
  deleted(range: ClockRange): void;
}

/** The lower bits of an item's info byte say what it holds; {@link COLLECTED} and {@link SKIP} are no items. */
export const CONTENT_BITS = 0b0001_1111;
export const HAS_ORIGIN = 0b1000_0000;
const HAS_RIGHT_ORIGIN = 0b0100_0000;
const HAS_PARENT_KEY = 0b0010_0000;
export const COLLECTED = 0;
export const DELETED = 1;
export const TEXT = 4;
export const SKIP = 10;
/** Shared types with a name of their own: XML elements and hooks. */
const NAMED_TYPES: ReadonlySet<number> = new Set([3, 5]);
const LAST_TYPE = 6;

type Decoder = decoding.Decoder;

const readText = (decoder: Decoder): string => {
  const bytes = decoding.readVarUint8Array(decoder);
  requireInside(decoder);
  return utf8.decode(bytes);
};
/** As lib0 reads strings. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const readJson = (decoder: Decoder): void => void JSON.parse(readText(decoder));

const readJsonOrUndefined = (decoder: Decoder): void => {
  const text = readText(decoder);
  if (text !== "undefined") JSON.parse(text);
};

const repeat = (decoder: Decoder, read: (decoder: Decoder) => void): number => {
  const count = decoding.readVarUint(decoder);
  for (let index = 0; index < count; index += 1) {
    read(decoder);
    requireInside(decoder);
  }
  return count;
};

/** Reads the content with this number, and returns how many clocks it takes. */
function readContent(decoder: Decoder, content: number): number {
  switch (content) {
    case DELETED:
      return decoding.readVarUint(decoder);
    case 2: // JSON
      return repeat(decoder, readJsonOrUndefined);
    case 3: // binary
      decoding.readVarUint8Array(decoder);
      return 1;
    case TEXT:
      return readText(decoder).length;
    case 5: // embed
      readJson(decoder);
      return 1;
    case 6: // format
      readText(decoder);
      readJson(decoder);
      return 1;
    case 7: // type
      readType(decoder);
      return 1;
    case 8: // any
      return repeat(decoder, decoding.readAny);
    case 9: // subdocument
      readText(decoder);
      decoding.readAny(decoder);
      return 1;
    default:
      throw new MalformedUpdate(`content ${content} is unknown`);
  }
}

function readType(decoder: Decoder): void {
  const type = decoding.readVarUint(decoder);
  if (type > LAST_TYPE) throw new MalformedUpdate(`type ${type} is unknown`);
  if (NAMED_TYPES.has(type)) readText(decoder);
}

/** Yjs fails for good on an operation that refers to a later one of its own client: such an update would poison the document. */
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
  let [origin, rightOrigin]: [OperationId | null, OperationId | null] = [null, null];
  const isItem = content !== COLLECTED && content !== SKIP;
  if (isItem) {
    if (info & HAS_ORIGIN) origin = readId(decoder, id);
    if (info & HAS_RIGHT_ORIGIN) rightOrigin = readId(decoder, id);
    if (origin === null && rightOrigin === null) readParent(decoder, id, info);
  }
  const contentStart = decoder.pos;
  const length = isItem ? readContent(decoder, content) : decoding.readVarUint(decoder);
  requireInside(decoder);
  requireLength(id.clock, length);
  return { ...id, length, info, origin, rightOrigin, start, contentStart, end: decoder.pos };
}

/** The container that an operation is in, which its neighbors would say. */
function readParent(decoder: Decoder, id: OperationId, info: number): void {
  const isRoot = decoding.readVarUint(decoder) === 1;
  if (isRoot) readText(decoder);
  else readId(decoder, id);
  if (info & HAS_PARENT_KEY) readText(decoder);
}

/** lib0 reads some values beyond the end of its bytes without a complaint. */
function requireInside({ pos, arr }: Decoder): void {
  if (pos > arr.length) throw new MalformedUpdate("it is cut off");
}

function requireLength(clock: number, length: number): void {
  if (length === 0 || !Number.isSafeInteger(clock + length))
    throw new MalformedUpdate("a length is out of range");
}

function readStructs(decoder: Decoder, visitor: UpdateVisitor): void {
  repeat(decoder, () => {
    const structs = decoding.readVarUint(decoder);
    const client = decoding.readVarUint(decoder);
    let clock = decoding.readVarUint(decoder);
    visitor.block?.(client);
    for (let index = 0; index < structs; index += 1) {
      const struct = readStruct(decoder, { client, clock });
      visitor.struct(struct);
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
      visitor.deleted({ client, start, end: start + length });
    });
  });
}

/**
 * Visits the parts of an update, and returns where in its bytes the deletions begin. Throws a {@link MalformedUpdate} for
 * bytes that Yjs could not read, or only in part.
 */
export function readUpdate(update: Uint8Array, visitor: UpdateVisitor): number {
  try {
    // In a buffer of its own: lib0 reads numbers by views of the whole buffer.
    const decoder = decoding.createDecoder(update.slice());
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
