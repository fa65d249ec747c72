/** A file's key: which room it is in, what nobody can guess, and its name. Whoever knows it may read the file. */
import { base64url } from "jose";
import { MAX_NAME_BYTES } from "./file-name.ts";

/** 128 bits in 22 characters. */
const RANDOM_BYTES = 16;

const KEY = /^([0-9a-f-]{36})\/[A-Za-z0-9_-]{22}\/uploads\/([^/]+)$/;

/** A new key; never one that was used before. */
export const createKey = (roomId: string, filename: string): string =>
  `${roomId}/${base64url.encode(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}/uploads/${filename}`;

/** What a key says. */
export interface ParsedKey {
  readonly key: string;
  readonly roomId: string;
  readonly filename: string;
}

/** What a key says; null when it cannot be one of ours, and nobody need be asked. */
export function parseKey(key: string): ParsedKey | null {
  const [, roomId, filename] = KEY.exec(key) ?? [];
  const isShort = filename !== undefined && filename.length <= MAX_NAME_BYTES;
  return roomId === undefined || !isShort ? null : { key, roomId, filename };
}

/** Where the file is read. */
export const urlOf = (origin: string, accountId: string, key: string): string =>
  `${origin}/v1/accounts/${accountId}/storage/${key.split("/").map(encodeURIComponent).join("/")}`;
