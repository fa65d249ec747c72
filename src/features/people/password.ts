/** Stored passwords: scrypt hashes in the PHC string format. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** 16 MiB and five passes: of OWASP's equivalent settings, the one that fits a Worker's memory. */
const COST_LOG2 = 14;
const BLOCK_SIZE = 8;
const PARALLELISM = 5;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const unpadded = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

/** `strength` is the logarithm of the cost, the block size and the parallelism. */
function derive(
  password: string,
  salt: Buffer,
  length: number,
  strength: readonly number[],
): Promise<Buffer> {
  const [costLog2 = 0, r = 0, p = 0] = strength;
  const cost = { N: 2 ** costLog2, r, p };
  // One password has several encodings in Unicode; which one arrives depends on the keyboard.
  const text = password.normalize("NFKC");
  return new Promise((resolve, reject) => {
    scrypt(text, salt, length, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/** Hashes a password for storage, which takes some 100 ms of processor time. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, [COST_LOG2, BLOCK_SIZE, PARALLELISM]);
  return `$scrypt$ln=${COST_LOG2},r=${BLOCK_SIZE},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** True when the password matches the stored hash, at the strength recorded in that. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const match = PHC.exec(stored);
  if (match === null) return false;
  const [, costLog2, blockSize, parallelism, salt = "", hash = ""] = match;
  const expected = Buffer.from(hash, "base64");
  const strength = [costLog2, blockSize, parallelism].map(Number);
  const derived = await derive(password, Buffer.from(salt, "base64"), expected.byteLength, strength);
  return timingSafeEqual(derived, expected);
}
