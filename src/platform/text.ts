/** Strings on the wire: their validation, their length in code points and bytes, and the folding that search uses. */
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

/** A display name: 1 to 255 characters. */
export const Name = text(1, 255);

/** An identifier that the organization chooses: 1 to 255 characters, compared exactly. */
export const CustomId = text(1, 255);

/** An http or https URL of at most 2,048 characters. */
export const WebUrl = text(1, 2048)
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), "must be an http or https URL")
  .meta({ format: "uri" });

/**
 * Folds text for a case-insensitive search in all of Unicode. Lower case followed by upper case unites what either
 * one alone keeps apart (ς and Σ, ẞ and SS, the Kelvin sign and k). It works character by character, so that a part
 * of a text folds to a part of the folded text.
 */
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

/** The beginning of a text that has at most so many UTF-8 bytes, in whole characters. */
export const cutToBytes = (value: string, bytes: number): string =>
  value.slice(0, encoder.encodeInto(value, new Uint8Array(bytes)).read);

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

/**
 * Whether at most `max` arrays and objects open, those in strings counted. The runtime searches a long text in a small
 * part of the time that a look at each of its characters takes, which a message costs even if it is then refused.
 */
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
