/** What a file may be called: the name that the uploader gave, made safe for keys, headers, pages and disks. */

/** As much as file systems hold. */
export const MAX_NAME_BYTES = 255;

/** A longer end than this is no extension that would be worth keeping. */
const EXTENSION = /\.[^.\s]{1,16}$/u;

/** Controls, line separators, and the marks that turn the direction of text, by which `gpj.exe` poses as `exe.jpg`. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;

/**
 * The name without folders and unsafe characters, in composed form, and shortened before its extension to
 * {@link MAX_NAME_BYTES}. Empty when nothing that could be a name is left. Cleaning it again changes nothing.
 */
export function cleanName(given: string): string {
  const folders = Math.max(given.lastIndexOf("/"), given.lastIndexOf("\\"));
  const name = given
    .slice(folders + 1)
    .toWellFormed()
    .replace(UNSAFE, "")
    .normalize("NFC")
    .trim();
  return /^\.*$/.test(name) ? "" : shorten(name);
}

function shorten(name: string): string {
  if (bytesOf(name) <= MAX_NAME_BYTES) return name;
  const [extension = ""] = EXTENSION.exec(name) ?? [];
  let room = MAX_NAME_BYTES - bytesOf(extension);
  let stem = "";
  for (const character of name) {
    room -= bytesOf(character);
    if (room < 0) break;
    stem += character;
  }
  return (stem + extension).trimEnd();
}
