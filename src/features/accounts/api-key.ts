/** API keys, and other secrets of their form: creation, a check for typos without a database, and the fingerprint that is stored. */
import { crc32 } from "node:zlib";
import { sha256 } from "../../platform/crypto/encoding.ts";

/** Secret scanners find leaked keys by these prefixes. A narrowed key has one of its own, and is refused as any other. */
const PREFIX = "atrium_sk_";
export const NARROWED_PREFIX = "atrium_rk_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 > 2^256. */
const SECRET_LENGTH = 43;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
/** The number of characters of a key's start that are stored in the clear, so that people can tell their keys apart. */
const SHOWN_LENGTH = PREFIX.length + 4;

const base62 = (value: bigint, length: number): string => {
  let digits = "";
  for (let quotient = value; digits.length < length; quotient /= 62n)
    digits = ALPHABET[Number(quotient % 62n)] + digits;
  return digits;
};

const checksum = (secret: string): string => base62(BigInt(crc32(secret)), CHECKSUM_LENGTH);

/** A new key from 256 random bits: `atrium_sk_` or another prefix, the secret, and a CRC-32 of the secret, in base 62. */
export function createApiKey(
  randomBytes: Uint8Array = crypto.getRandomValues(new Uint8Array(32)),
  prefix: string = PREFIX,
): string {
  let value = 0n;
  for (const byte of randomBytes) value = (value << 8n) | BigInt(byte);
  const secret = base62(value, SECRET_LENGTH);
  return prefix + secret + checksum(secret);
}

/** True when the text has a key's shape and a matching checksum; anything else never was a key. */
export function isApiKey(candidate: string, prefix: string = PREFIX): boolean {
  if (!candidate.startsWith(prefix) || !SHAPE.test(candidate.slice(prefix.length))) return false;
  const secret = candidate.slice(prefix.length, prefix.length + SECRET_LENGTH);
  return candidate.endsWith(checksum(secret));
}

/** The stored form of a key: enough to recognize it, too little to use it. `hash` is SHA-256 in hexadecimal. */
export async function fingerprintOf(apiKey: string) {
  const hash = await sha256(new TextEncoder().encode(apiKey));
  return { hash, prefix: apiKey.slice(0, SHOWN_LENGTH), lastFour: apiKey.slice(-4) };
}
