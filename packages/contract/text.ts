/** Strings and updates on the wire: their validation; the length of text in code points and bytes, and the folding that search uses. */
import * as z from "zod";
import { fieldOf, OVERFLOW } from "./issues.ts";

/** True for text that every database and client can hold: without lone surrogates and NUL. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** Length in code points, as JSON Schema's `maxLength` counts it, not in UTF-16 units. */
export const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

/** True for at most `max` code points. */
export const fits = (value: string, max: number): boolean =>
  value.length <= 2 * max && codePoints(value) <= max;

/** A string of `min` to `max` characters that {@link isPlainText}. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((value) => isPlainText(value), "must be well-formed Unicode without NUL")
    .refine((value) => fits(value, max) && codePoints(value) >= min, `must have ${min} to ${max} characters`)
    .meta({ minLength: min, maxLength: max });

export const Name = text(1, 255);

/** True for a name that no address can hold: `.` and `..` are folders there, however they are encoded. */
export const isFolder = (name: string): boolean => name === "." || name === "..";

/** A name that is a segment of an address, of 1 to `max` characters. */
export const segment = (max: number) =>
  text(1, max)
    .refine((name) => !isFolder(name), 'must not be "." or "..", which addresses take for folders')
    .meta({ minLength: 1, maxLength: max });

/** An identifier that the organization chooses: 1 to 255 characters, compared exactly. */
export const CustomId = segment(255);

export const WebUrl = text(1, 2048)
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), "must be an http or https URL")
  .meta({ format: "uri" });

/** A record from outside. zod leaves the key `__proto__` out without a word: here it is no valid key. */
export function recordOf<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
  refusal = "is not a valid key",
) {
  const record = z.record(key, value, {
    error: ({ code }) => (code === "invalid_key" ? refusal : undefined),
  });
  return z.preprocess((input: z.input<typeof record>, { issues }) => {
    if (typeof input === "object" && input !== null && Object.hasOwn(input, "__proto__"))
      issues.push({ code: "custom", message: refusal, path: ["__proto__"], input });
    return input;
  }, record);
}

/** The body of an update: at least one of these optional fields. */
export const updateOf = <Shape extends z.ZodRawShape>(fields: Shape) =>
  z
    .strictObject(fields)
    .refine(
      (update) => Object.keys(update).length > 0,
      `at least one of ${Object.keys(fields).join(", ")} is required`,
    )
    .meta({ minProperties: 1 });

/**
 * Lower then upper case unites ς and Σ, ẞ and SS, K and k; normalization, a letter with its marks and the composed one. By
 * letter, so parts fold to parts.
 */
export const fold = (value: string): string =>
  value.normalize("NFD").toLowerCase().toUpperCase().normalize("NFC");

/** Made by the first cut: reading the tables of Unicode takes longer than the start of all else. */
let graphemes: Intl.Segmenter | undefined;

const lengthOf = (text: string): number => text.length;

/** The parts while `measure` of them is at most `max`. */
function beginning(parts: Iterable<string>, max: number, measure: (text: string) => number): string {
  let begun = "";
  let size = 0;
  for (const part of parts) {
    size += measure(part);
    if (size > max) break;
    begun += part;
  }
  return begun;
}

/** The beginning of a text while `measure` of it is at most `max`: whole letters with their marks, and whole emoji. */
export function cut(text: string, max: number, measure = lengthOf): string {
  if (measure(text) <= max) return text;
  // Segmenting takes ever longer for each letter of a long text. The next character says whether a letter ends at the cut.
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const near = graphemes.segment(text.slice(0, max + 2));
  const letters = Array.from(near, ({ segment: letter }) => letter);
  return beginning(letters, max, measure) || beginning(text, max, measure); // one letter may have marks without end
}

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

/**
 * The path to a number that `JSON.parse` made infinite, such as `1e400`, and `JSON.stringify` would make null. Null without
 * one.
 */
export function findOverflow(value: unknown): string[] | null {
  if (typeof value === "number") return Number.isFinite(value) ? null : [];
  if (typeof value !== "object" || value === null) return null;
  for (const name in value) {
    const path = findOverflow((value as Record<string, unknown>)[name]);
    if (path !== null) return [name, ...path];
  }
  return null;
}

/** The refusal of the number at this path; `whole` names the value itself. */
export const describeOverflow = (path: readonly string[], whole: string): string =>
  `${fieldOf(path, whole)}: ${OVERFLOW}`;

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
