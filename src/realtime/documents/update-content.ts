/** Reads what the operations of a Yjs update (v1) hold, and refuses what Yjs could not read, without building anything of it. */
import * as decoding from "lib0/decoding";
import { AppError } from "../../platform/errors.ts";

/** Bytes that are not an update: VALIDATION_ERROR. */
export class MalformedUpdate extends AppError {
  constructor(why: string) {
    super("Rooms", "VALIDATION_ERROR", `update: is not a Yjs update (v1): ${why}`);
  }
}

/** What a struct holds. {@link COLLECTED} and {@link SKIP} are no items. */
export const COLLECTED = 0;
export const DELETED = 1;
export const JSONS = 2;
export const BINARY = 3;
export const TEXT = 4;
export const EMBED = 5;
export const FORMAT = 6;
export const TYPE = 7;
export const ANY = 8;
export const SUBDOCUMENT = 9;
export const SKIP = 10;
/** Shared types with a name of their own: XML elements and hooks. */
export const NAMED_TYPES: ReadonlySet<number> = new Set([3, 5]);
const LAST_TYPE = 6;

type Decoder = decoding.Decoder;

/** lib0 reads some values beyond the end of its bytes without a complaint. */
export function requireInside({ pos, arr }: Decoder): void {
  if (pos > arr.length) throw new MalformedUpdate("it is cut off");
}

export const readText = (decoder: Decoder): string => {
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

/** Reads as many as a number in front says, and returns how many. */
export const repeat = (decoder: Decoder, read: (decoder: Decoder) => void): number => {
  const count = decoding.readVarUint(decoder);
  for (let index = 0; index < count; index += 1) {
    read(decoder);
    requireInside(decoder);
  }
  return count;
};

/** Reads the content with this number, and returns how many clocks it takes. */
export function readContent(decoder: Decoder, content: number): number {
  switch (content) {
    case DELETED:
      return decoding.readVarUint(decoder);
    case JSONS:
      return repeat(decoder, readJsonOrUndefined);
    case BINARY:
      decoding.readVarUint8Array(decoder);
      return 1;
    case TEXT:
      return readText(decoder).length;
    case EMBED:
      readJson(decoder);
      return 1;
    case FORMAT:
      readText(decoder);
      readJson(decoder);
      return 1;
    case TYPE:
      readType(decoder);
      return 1;
    case ANY:
      return repeat(decoder, decoding.readAny);
    case SUBDOCUMENT:
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
