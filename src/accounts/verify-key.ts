/** Tells whose API key a request carries, from memory while that is fresh, else with one D1 read. */
import { timingSafeEqual } from "node:crypto";
import type { Database } from "../platform/d1.ts";
import { fingerprintOf, isApiKey } from "./api-key.ts";
import { selectKeyByHash, updateLastUsed } from "./store.ts";

/** A revoked key may work this much longer where another instance still remembers it. */
export const KEY_CACHE_MS = 20_000;
const MAX_REMEMBERED = 10_000;
const MINUTE_MS = 60_000;

export interface VerifiedKey {
  readonly accountId: string;
  readonly keyId: string;
}

interface Remembered extends VerifiedKey {
  readonly until: number;
}

/** By the key's hash, so that no usable secret stays in memory. Oldest first. */
const remembered = new Map<string, Remembered>();

/** Forgets a key at once, in this instance; the others follow within {@link KEY_CACHE_MS}. */
export const evictKey = (hash: string): boolean => remembered.delete(hash);

function remember(hash: string, key: VerifiedKey, now: number): void {
  const oldest = remembered.keys().next();
  if (remembered.size >= MAX_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
  remembered.set(hash, { ...key, until: now + KEY_CACHE_MS });
}

/** Equal texts in a time that depends on their length alone. */
function equalInConstantTime(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

/**
 * The key when it is a live one of this very account, else null. What is looked up is the key's SHA-256, so
 * the time that a look-up takes says nothing of the key; a key with a typo costs no look-up.
 */
export async function verifyKey(
  db: Database,
  accountId: string,
  apiKey: string,
  now: number,
  defer: (work: Promise<unknown>) => void,
): Promise<VerifiedKey | null> {
  if (!isApiKey(apiKey)) return null;
  const { hash } = await fingerprintOf(apiKey);
  const known = remembered.get(hash);
  if (known !== undefined && known.until > now)
    return equalInConstantTime(known.accountId, accountId) ? known : null;
  remembered.delete(hash);
  const [[row]] = await db.run([selectKeyByHash(hash)]);
  if (row === undefined || !equalInConstantTime(row.hash, hash)) return null;
  const key = { accountId: row.accountId, keyId: row.id };
  remember(hash, key, now);
  const minute = now - (now % MINUTE_MS);
  if ((row.lastUsedAt ?? 0) < minute)
    defer(db.run([updateLastUsed({ db, accountId: row.accountId }, row.id, minute)]));
  return equalInConstantTime(row.accountId, accountId) ? key : null;
}
