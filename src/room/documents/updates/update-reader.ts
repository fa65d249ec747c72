/** Reads the operations of an update (v1) one by one, and refuses bytes that Yjs could not read. */

import * as decoding from "lib0/decoding";
import {
  CONTENT,
  type Decoder,
  MalformedUpdate,
  readContent,
  readText,
  repeat,
  requireInside,
} from "./content-reader.ts";
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
  /** The type that it begins, of an item; null for types of the document, entries of maps, and items with a neighbor. */
  readonly parent: OperationId | null;
  /** The type, of an item, in which it is the first entry of a key. */
  readonly keyed: OperationId | null;
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

/** The bits of the info byte that tell the content. */
export const CONTENT_BITS = 0b0001_1111;
export const HAS_ORIGIN = 0b1000_0000;
const HAS_RIGHT_ORIGIN = 0b0100_0000;
const HAS_PARENT_KEY = 0b0010_0000;

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
  let container: Container = NO_CONTAINER;
  const isItem = content !== CONTENT.collected && content !== CONTENT.skip;
  if (isItem) {
    if (info & HAS_ORIGIN) origin = readId(decoder, id);
    if (info & HAS_RIGHT_ORIGIN) rightOrigin = readId(decoder, id);
    if (origin === null && rightOrigin === null) container = readContainer(decoder, id, info);
  }
  const contentStart = decoder.pos;
  const length = isItem ? readContent(decoder, content) : decoding.readVarUint(decoder);
  requireInside(decoder);
  requireLength(id.clock, length);
  return { ...id, length, info, origin, rightOrigin, ...container, start, contentStart, end: decoder.pos };
}

type Container = Pick<Struct, "parent" | "keyed">;

const NO_CONTAINER: Container = { parent: null, keyed: null };

/** The container of an item without neighbors: a type of the document, or of an item; in a map, with a key. */
function readContainer(decoder: Decoder, id: OperationId, info: number): Container {
  let type: OperationId | null = null;
  const isRoot = decoding.readVarUint(decoder) === 1;
  if (isRoot) readText(decoder);
  else type = readId(decoder, id);
  if (!(info & HAS_PARENT_KEY)) return { parent: type, keyed: null };
  readText(decoder);
  return { parent: null, keyed: type };
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
