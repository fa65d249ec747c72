/** Reads the operations of a Yjs update (v1) one after the other, and refuses what Yjs could not read, without building anything of it. */
import * as decoding from "lib0/decoding";
import type { ClockRange } from "./id-set.ts";
import { COLLECTED, readContent, SKIP } from "./update-content.ts";
import { MalformedUpdate, readText, repeat, requireInside } from "./update-values.ts";

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

/** The lower bits of a struct's info byte say what it holds. */
export const CONTENT_BITS = 0b0001_1111;
export const HAS_ORIGIN = 0b1000_0000;
const HAS_RIGHT_ORIGIN = 0b0100_0000;
const HAS_PARENT_KEY = 0b0010_0000;

type Decoder = decoding.Decoder;

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
  // Merging, Yjs takes a gap with other bits for an item, and fails on it for good.
  if (content === SKIP && info !== SKIP) throw new MalformedUpdate("a gap is no item");
  let [origin, rightOrigin]: [OperationId | null, OperationId | null] = [null, null];
  const isItem = content !== COLLECTED && content !== SKIP;
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

/** Merging, Yjs loses operations of an update whose clients are not in descending order, and of others beside it. */
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

/** lib0 reads numbers by views of the whole buffer. */
const inOwnBuffer = (bytes: Uint8Array): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();

/**
 * Visits the parts of an update, and returns where in its bytes the deletions begin. Throws a {@link MalformedUpdate} for
 * bytes that Yjs could not read, or only in part.
 */
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
