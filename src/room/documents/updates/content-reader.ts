/** Reads the content of an operation, and refuses values that Yjs could not read. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { isTooDeep } from "@atrium/contract/text.ts";
import * as decoding from "lib0/decoding";

export type Decoder = decoding.Decoder;

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

/** Shared types with a name of their own: XML elements and hooks. */
const NAMED_TYPES: ReadonlySet<number> = new Set([3, 5]);
const LAST_TYPE = 6;

export function readContent(decoder: Decoder, content: number): number {
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
export function requireInside({ pos, arr }: Decoder): void {
  if (pos > arr.length) throw new MalformedUpdate("it is cut off");
}

export const readText = (decoder: Decoder): string => {
  const bytes = decoding.readVarUint8Array(decoder);
  requireInside(decoder);
  return utf8.decode(bytes);
};
/** Same options as in lib0. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a number of items, after their count, and returns it. */
export const repeat = (decoder: Decoder, read: (decoder: Decoder) => void): number => {
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
