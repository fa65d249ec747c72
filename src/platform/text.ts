/** Strings on the wire: well-formed Unicode without NUL, measured in code points, bytes and levels, and folded for search. */
import * as z from "zod";

/** True for text that every store and client can hold: no lone surrogate, no NUL. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** Length in code points, as JSON Schema's `maxLength` counts (RFC 8259 characters), not in UTF-16 units. */
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

/** A name that people see: 1 to 255 characters. */
export const Name = text(1, 255);

/** An organization's own identifier for one of its things: 1 to 255 characters, compared as given. */
export const CustomId = text(1, 255);

/** An http or https address of at most 2,048 characters. */
export const WebUrl = text(1, 2048)
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), "must be an http or https URL")
  .meta({ format: "uri" });

/**
 * The form in which text is searched: equal for all spellings that differ in case alone, in all of Unicode.
 * Lower then upper case brings together what either alone keeps apart (ς and Σ, ẞ and SS, the Kelvin sign
 * and k), and it works character by character, so a part of a text folds to a part of the folded text.
 */
export const fold = (value: string): string => value.toLowerCase().toUpperCase();

const encoder = new TextEncoder();

/** Size in UTF-8 bytes. */
export const byteLength = (value: string): number => encoder.encode(value).byteLength;

/** True when brackets outside of strings nest deeper than `max` levels; `JSON.parse` itself accepts any depth. */
export function isTooDeep(json: string, max: number): boolean {
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
