/** Reads the content of operations in an update (v1), and refuses content that Yjs could not read. */
import * as decoding from "lib0/decoding";
import {
  MalformedUpdate,
  readAny,
  readJson,
  readJsonOrUndefined,
  readText,
  repeat,
} from "./update-values.ts";

/** Contents of a struct. {@link COLLECTED} and {@link SKIP} are no items. */
export const COLLECTED = 0;
export const DELETED = 1;
export const JSONS = 2;
const BINARY = 3;
export const TEXT = 4;
const EMBED = 5;
const FORMAT = 6;
export const TYPE = 7;
export const ANY = 8;
export const SUBDOCUMENT = 9;
export const SKIP = 10;
/** Shared types with a name of their own: XML elements and hooks. */
const NAMED_TYPES: ReadonlySet<number> = new Set([3, 5]);
const LAST_TYPE = 6;

type Decoder = decoding.Decoder;

/** Reads a content of this kind, and returns its number of clocks. */
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
      return repeat(decoder, () => readAny(decoder));
    case SUBDOCUMENT:
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
