/** Reads what the pieces of a document hold beside text. */
import * as decoding from "lib0/decoding";
import { bytesToBase64 } from "../../../platform/crypto/base64.ts";
import { ANY, BINARY, EMBED, JSONS, NAMED_TYPES, SUBDOCUMENT, TEXT } from "../updates/update-content.ts";
import { decoderAt } from "./decoder-at.ts";
import type { Pieces } from "./pieces.ts";
import { textOf } from "./walk-text.ts";

/** The kinds of shared types, by their numbers in an update. */
export const ARRAY_TYPE = 0;
export const MAP_TYPE = 1;
export const TEXT_TYPE = 2;
export const ELEMENT_TYPE = 3;
export const FRAGMENT_TYPE = 4;
export const HOOK_TYPE = 5;
export const XML_TEXT_TYPE = 6;

/** The values of a piece that is neither a shared type nor a format. Of text, each character that Yjs counts is one. */
export function valuesOf(pieces: Pieces, piece: number): readonly unknown[] {
  const decoder = decoderAt(pieces.bytes, pieces.at[piece] ?? 0);
  const length = pieces.lengthOf(piece);
  switch (pieces.kind[piece]) {
    case TEXT:
      return textOf(pieces, piece, length).split("");
    case ANY:
      return Array.from({ length }, () => decoding.readAny(decoder) as unknown);
    case JSONS:
      return Array.from({ length }, () => parse(decoding.readVarString(decoder)));
    case EMBED:
      return [parse(decoding.readVarString(decoder))];
    case BINARY:
      return [bytesToBase64(decoding.readVarUint8Array(decoder))];
    case SUBDOCUMENT:
      return [{}];
    default:
      return [];
  }
}

const parse = (text: string): unknown => (text === "undefined" ? undefined : JSON.parse(text));

/** A mark with which a format begins or, with null, ends. */
export function formatOf(
  { bytes, at }: Pieces,
  piece: number,
): { readonly key: string; readonly value: unknown } {
  const decoder = decoderAt(bytes, at[piece] ?? 0);
  return { key: decoding.readVarString(decoder), value: parse(decoding.readVarString(decoder)) };
}

/** Which kind of shared type a piece made, and the name that elements have. */
export function typeOf(
  { bytes, at }: Pieces,
  piece: number,
): { readonly kind: number; readonly name: string } {
  const decoder = decoderAt(bytes, at[piece] ?? 0);
  const kind = decoding.readVarUint(decoder);
  return { kind, name: NAMED_TYPES.has(kind) ? decoding.readVarString(decoder) : "" };
}
