/** A file's key: its room, 128 random bits and its name. Anyone who knows the key can read the file. */
import { base64url } from "jose";
import { byteLength } from "../../platform/text.ts";
import { MAX_NAME_BYTES } from "./file-name.ts";

/** 128 bits in 22 characters. */
const RANDOM_BYTES = 16;

const KEY = /^([0-9a-f-]{36})\/[A-Za-z0-9_-]{22}\/uploads\/([^/]+)$/;

/** A new, unique key. */
export const createKey = (roomId: string, filename: string): string =>
  `${roomId}/${base64url.encode(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}/uploads/${filename}`;

/** The parts of a key. */
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
