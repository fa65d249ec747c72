/** Cleans the names of uploaded files, so that they are safe in keys, headers, pages and on disks. */

import { byteLength, cut } from "@atrium/contract/text.ts";
import { base64url } from "jose";

const MAX_NAME_BYTES = 255;

const EXTENSION = /\.[^.\s]{1,16}$/u;

/** Control characters, line separators, and direction marks, which make `gpj.exe` look like `exe.jpg`. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/**
 * The name without folders and unsafe characters, in NFC, shortened before its extension. Empty when
 * nothing is left.
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
  if (byteLength(name) <= MAX_NAME_BYTES) return name;
  const [extension = ""] = EXTENSION.exec(name) ?? [];
  return (cut(name, MAX_NAME_BYTES - byteLength(extension), byteLength) + extension).trimEnd();
}

const RANDOM_BYTES = 16;

const KEY = /^([0-9a-f-]{36})\/[A-Za-z0-9_-]{22}\/uploads\/([^/]+)$/;

export const createKey = (roomId: string, filename: string): string =>
  `${roomId}/${base64url.encode(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}/uploads/${filename}`;

export interface ParsedKey {
  readonly key: string;
  readonly roomId: string;
  readonly filename: string;
}

/** The parts of a key; null when it is malformed, which needs no look-up. */
export function parseKey(key: string): ParsedKey | null {
  const [, roomId, filename] = KEY.exec(key) ?? [];
  const isShort = filename !== undefined && byteLength(filename) <= MAX_NAME_BYTES;
  return roomId === undefined || !isShort ? null : { key, roomId, filename };
}
