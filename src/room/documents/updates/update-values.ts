/** Reads the values of an update (v1), and refuses those that Yjs could not read or write. */
import * as decoding from "lib0/decoding";
import { AppError } from "../../../platform/errors.ts";
import { isTooDeep } from "../../../platform/text.ts";
import { MAX_VALUE_DEPTH } from "./limits.ts";

/** Bytes that are not an update: VALIDATION_ERROR. */
export class MalformedUpdate extends AppError {
  constructor(why: string) {
    super("Rooms", "VALIDATION_ERROR", `update: is not a Yjs update (v1): ${why}`);
  }
}

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

/** Reads a number of items, after their count, and returns it. */
export const repeat = (decoder: Decoder, read: (decoder: Decoder) => void): number => {
  const count = decoding.readVarUint(decoder);
  for (let index = 0; index < count; index += 1) {
    read(decoder);
    requireInside(decoder);
  }
  return count;
};

const tooDeep = () => new MalformedUpdate(`a value nests more than ${MAX_VALUE_DEPTH} levels deep`);

/** Yjs writes JSON by recursion: a deeper value could never be merged or sent. */
export const readJson = (decoder: Decoder): void => parse(readText(decoder));

export const readJsonOrUndefined = (decoder: Decoder): void => {
  const text = readText(decoder);
  if (text !== "undefined") parse(text);
};

function parse(json: string): void {
  if (isTooDeep(json, MAX_VALUE_DEPTH)) throw tooDeep();
  JSON.parse(json);
}

/** Tags of values in the encoding of lib0. */
const ANY = {
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
export function readAny(decoder: Decoder, levels = MAX_VALUE_DEPTH): void {
  switch (decoding.readUint8(decoder)) {
    case ANY.undefined:
    case ANY.null:
    case ANY.false:
    case ANY.true:
      return;
    case ANY.integer:
      decoding.readVarInt(decoder);
      return;
    case ANY.float32:
      decoder.pos += 4;
      return;
    case ANY.float64:
    case ANY.bigint:
      decoder.pos += 8;
      return;
    case ANY.string:
      readText(decoder);
      return;
    case ANY.bytes:
      decoding.readVarUint8Array(decoder);
      return;
    case ANY.array:
      if (levels === 0) throw tooDeep();
      repeat(decoder, () => readAny(decoder, levels - 1));
      return;
    case ANY.object:
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
