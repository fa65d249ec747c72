/** Reads which operations a Yjs update (v1) has, and refuses one that Yjs could not read, without building anything of it. */
import * as decoding from "lib0/decoding";
import { AppError } from "../../platform/errors.ts";
import type { ClockRange } from "./id-set.ts";

/** Bytes that are not an update: VALIDATION_ERROR. */
export class MalformedUpdate extends AppError {
  constructor(why: string) {
    super("Rooms", "VALIDATION_ERROR", `update: is not a Yjs update (v1): ${why}`);
  }
}

/** What an update has: operations, and deletions of operations. */
export interface UpdateContent {
  readonly inserted: readonly ClockRange[];
  readonly deleted: readonly ClockRange[];
}

/** The lower bits of an item's info byte say what it holds; 0 and 10 are no items. */
const CONTENT_BITS = 0b0001_1111;
const HAS_ORIGIN = 0b1000_0000;
const HAS_RIGHT_ORIGIN = 0b0100_0000;
const HAS_PARENT_KEY = 0b0010_0000;
const COLLECTED = 0;
const SKIP = 10;
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
    case 1: // deleted
      return decoding.readVarUint(decoder);
    case 2: // JSON
      return repeat(decoder, readJsonOrUndefined);
    case 3: // binary
      decoding.readVarUint8Array(decoder);
      return 1;
    case 4: // string
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

/** The operation that an id is read for. */
interface Position {
  readonly client: number;
  readonly clock: number;
}

/** Yjs fails for good on an operation that refers to a later one of its own client: such an update would poison the document. */
function readId(decoder: Decoder, { client, clock }: Position): void {
  const isOwn = decoding.readVarUint(decoder) === client;
  if (decoding.readVarUint(decoder) >= clock && isOwn)
    throw new MalformedUpdate("an operation refers to a later one");
}

/** Reads an operation, and returns how many clocks it takes. */
function readStruct(decoder: Decoder, info: number, position: Position): number {
  const content = info & CONTENT_BITS;
  if (content === COLLECTED || content === SKIP) return decoding.readVarUint(decoder);
  if (info & HAS_ORIGIN) readId(decoder, position);
  if (info & HAS_RIGHT_ORIGIN) readId(decoder, position);
  if ((info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN)) === 0) {
    const isRoot = decoding.readVarUint(decoder) === 1;
    if (isRoot) readText(decoder);
    else readId(decoder, position);
    if (info & HAS_PARENT_KEY) readText(decoder);
  }
  return readContent(decoder, content);
}

/** lib0 reads some values beyond the end of its bytes without a complaint. */
function requireInside({ pos, arr }: Decoder): void {
  if (pos > arr.length) throw new MalformedUpdate("it is cut off");
}

function rangeOf(client: number, start: number, length: number): ClockRange {
  const end = start + length;
  if (length === 0 || !Number.isSafeInteger(end)) throw new MalformedUpdate("a length is out of range");
  return { client, start, end };
}

/** Extends the last range, or begins another one. */
function append(ranges: ClockRange[], range: ClockRange): void {
  const last = ranges.at(-1);
  if (last?.client === range.client && last.end === range.start)
    ranges[ranges.length - 1] = { ...last, end: range.end };
  else ranges.push(range);
}

function readInserted(decoder: Decoder): ClockRange[] {
  const ranges: ClockRange[] = [];
  repeat(decoder, () => {
    const structs = decoding.readVarUint(decoder);
    const client = decoding.readVarUint(decoder);
    let clock = decoding.readVarUint(decoder);
    for (let index = 0; index < structs; index += 1) {
      const info = decoding.readUint8(decoder);
      requireInside(decoder);
      const range = rangeOf(client, clock, readStruct(decoder, info, { client, clock }));
      requireInside(decoder);
      if ((info & CONTENT_BITS) !== SKIP) append(ranges, range);
      clock = range.end;
    }
  });
  return ranges;
}

function readDeleted(decoder: Decoder): ClockRange[] {
  const ranges: ClockRange[] = [];
  repeat(decoder, () => {
    const client = decoding.readVarUint(decoder);
    repeat(decoder, () => {
      const clock = decoding.readVarUint(decoder);
      append(ranges, rangeOf(client, clock, decoding.readVarUint(decoder)));
    });
  });
  return ranges;
}

/** What the update has. Throws a {@link MalformedUpdate} for bytes that Yjs could not read, or only in part. */
export function scanUpdate(update: Uint8Array): UpdateContent {
  try {
    // In a buffer of its own: lib0 reads numbers by views of the whole buffer.
    const decoder = decoding.createDecoder(update.slice());
    const content = { inserted: readInserted(decoder), deleted: readDeleted(decoder) };
    if (decoding.hasContent(decoder)) throw new MalformedUpdate("bytes follow its end");
    return content;
  } catch (error) {
    if (error instanceof MalformedUpdate) throw error;
    throw new MalformedUpdate(error instanceof Error ? error.message : "it cannot be read");
  }
}
