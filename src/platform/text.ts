/** Strings and updates on the wire: their validation; the length of text in code points and bytes, and the folding that search uses. */
import * as z from "zod";

/** True for text that every database and client can hold: without lone surrogates and NUL. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** Length in code points, as JSON Schema's `maxLength` counts it, not in UTF-16 units. */
export const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

/** A string of `min` to `max` characters that {@link isPlainText}. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((value) => isPlainText(value), "must be well-formed Unicode without NUL")
    .refine(
      (value) => value.length <= 2 * max && codePoints(value) >= min && codePoints(value) <= max,
      `must have ${min} to ${max} characters`,
    )
    .meta({ minLength: min, maxLength: max });

export const Name = text(1, 255);

/** An identifier that the organization chooses: 1 to 255 characters, compared exactly. */
export const CustomId = text(1, 255);

export const WebUrl = text(1, 2048)
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), "must be an http or https URL")
  .meta({ format: "uri" });

/** The body of an update: at least one of these optional fields. */
export const updateOf = <Shape extends z.ZodRawShape>(fields: Shape) =>
  z
    .strictObject(fields)
    .refine(
      (update) => Object.keys(update).length > 0,
      `at least one of ${Object.keys(fields).join(", ")} is required`,
    )
    .meta({ minProperties: 1 });

/** Lower then upper case unites ς and Σ, ẞ and SS, K and k. By character, so parts fold to parts. */
export const fold = (value: string): string => value.toLowerCase().toUpperCase();

const encoder = new TextEncoder();

/** Up to here, looking at each unit takes less than the encoder, which makes a buffer. */
const SHORT = 256;

/** Size in UTF-8 bytes; a lone surrogate counts as the character that replaces it. */
export function byteLength(value: string): number {
  if (value.length > SHORT) return encoder.encode(value).byteLength;
  let bytes = value.length;
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (isPair(unit, value.charCodeAt(i + 1))) i += 1; // four bytes of two units
  }
  return bytes;
}

const isPair = (high: number, low: number): boolean =>
  (high & 0xfc00) === 0xd800 && (low & 0xfc00) === 0xdc00;

export const cutToBytes = (value: string, bytes: number): string =>
  value.slice(0, encoder.encodeInto(value, new Uint8Array(bytes)).read);

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True when arrays and objects nest deeper than `max` levels. `JSON.parse` itself accepts any depth. */
export function isTooDeep(json: string, max: number): boolean {
  if (hasAtMostBrackets(json, max)) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i += 1) {
    const char = json.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > max) return true;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return false;
}

/** Native search costs a small part of a look at each character. */
function hasAtMostBrackets(json: string, max: number): boolean {
  let left = max;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      if (left === 0) return false;
      left -= 1;
    }
  }
  return true;
}
