/** Authenticates organizations by their API keys, from memory for some seconds, else with one D1 read. */

import { notFound } from "@atrium/contract/errors.ts";
import { MINUTE_MS } from "@atrium/contract/time.ts";
import { decodeJwt } from "jose";
import { bearerOf, type Scheme } from "../../http/authenticate.ts";
import { equalInConstantTime } from "../../http/security.ts";
import { TtlCache } from "../../platform/cache.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Actor } from "../../platform/d1/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { isOutside } from "../../platform/d1/rights.ts";
import { isNarrowed, narrowedBy, narrowingOf, requireOpened } from "../../platform/narrowing.ts";
import { requireRestored } from "../../platform/token-claims.ts";
import { selectRoom } from "../rooms/statements.ts";
import { isApiKey, NARROWED_PREFIX } from "./api-key.ts";
import { selectKeyByHash, updateLastUsed } from "./store.ts";

/** The time for which a revoked key may still work in another isolate, which nothing can notify: as long as a sign-in session. */
const KEY_CACHE_MS = 10_000;
const MAX_CACHED = 10_000;

type KeyActor = Extract<Actor, { readonly type: "key" }>;
type VerifiedKey = Omit<KeyActor, "type" | "roomId">;

/** Keys by their hash, so that memory holds no usable secret; null for a key that does not, and never will, exist. */
const cache = new TtlCache<VerifiedKey | null>({ ttlMs: KEY_CACHE_MS, maxEntries: MAX_CACHED });

/** The hashes of keys that were valid lately: reading them again is not counted as an attempt to guess one. */
const lately = new TtlCache<true>({ ttlMs: 10 * MINUTE_MS, maxEntries: MAX_CACHED });

/** Evicts a key from this isolate; others follow within {@link KEY_CACHE_MS}. */
export function evictKey(hash: string): void {
  cache.delete(hash);
  lately.delete(hash);
}

/** The key with this SHA-256, from memory while fresh; null without one. The duration reveals nothing about the key. */
export async function verifyKey(
  db: Database,
  hash: string,
  now: number,
  defer: (work: Promise<unknown>) => void,
): Promise<VerifiedKey | null> {
  const known = cache.get(hash, now);
  return known === undefined ? readKey(db, hash, now, defer) : known;
}

/** Reads a key into the cache and notes to the minute, after the answer, that it was used. */
async function readKey(
  db: Database,
  hash: string,
  now: number,
  defer: (work: Promise<unknown>) => void,
): Promise<VerifiedKey | null> {
  const [[row]] = await db.run([selectKeyByHash(hash)]);
  if (row === undefined || !equalInConstantTime(row.hash, hash)) {
    lately.delete(hash);
    cache.set(hash, null, now);
    return null;
  }
  requireRestored(row.accountTokenEpoch);
  const narrowing = narrowingOf(row);
  const key = {
    ...{ accountId: row.accountId, keyId: row.id, name: row.name },
    ...(isNarrowed(narrowing) && { narrowed: narrowedBy(narrowing) }),
  };
  cache.set(hash, key, now);
  lately.set(hash, true, now);
  const minute = now - (now % MINUTE_MS);
  if ((row.lastUsedAt ?? 0) < minute)
    defer(db.run([updateLastUsed({ db, accountId: row.accountId }, row.id, minute)]));
  return key;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

interface KeyPair {
  readonly accountId: string;
  readonly apiKey: string;
}

/**
 * `accountId:apiKey` in standard or URL-safe Base64, padded or not; null when it is something else. `echo` and files end
 * with a line end, which is no part of a key.
 */
function decodeBearer(bearer: string): KeyPair | null {
  if (!BASE64.test(bearer)) return null;
  try {
    const pair = atob(bearer.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    const colon = pair.indexOf(":");
    if (colon === -1) return null;
    return { accountId: pair.slice(0, colon).trim(), apiKey: pair.slice(colon + 1).trim() };
  } catch {
    return null;
  }
}

/** The pair that a request brings as an API key, verified or not; null when its credential is something else. */
export function claimedKeyOf(request: Request): KeyPair | null {
  const bearer = bearerOf(request);
  return bearer === null ? null : decodeBearer(bearer);
}

/** The organization that an API key or a token is said to belong to; null when the request has neither. */
export function claimedAccountOf(request: Request): string | null {
  const bearer = bearerOf(request);
  if (bearer === null) return null;
  return bearer.includes(".") ? accountInToken(bearer) : (decodeBearer(bearer)?.accountId ?? null);
}

function accountInToken(token: string): string | null {
  try {
    const { accountId } = decodeJwt(token);
    return typeof accountId === "string" ? accountId : null;
  } catch {
    return null; // verification refuses it
  }
}

/** A key that names rooms, in one of them. NOT_FOUND without the room, FORBIDDEN in another one. */
export async function keyInRoom(db: Database, key: KeyActor, roomId: string): Promise<KeyActor> {
  const { accountId, narrowed } = key;
  if (narrowed?.rooms?.includes(roomId) === false) {
    const [[room]] = await db.run([selectRoom({ db, accountId }, { id: roomId })]);
    if (room === undefined) throw notFound("Rooms", "Room");
    requireOpened(narrowed, room, "API key");
  }
  return { ...key, roomId };
}

/** `Bearer <Base64 of accountId:apiKey>`, without dots, unlike a JWT. A mistyped key fails its checksum without a read. */
export const apiKeyScheme: Scheme = async (request, { directory, db, roomId, now, defer }) => {
  const bearer = bearerOf(request);
  if (bearer === null || bearer.includes(".")) return undefined;
  const pair = decodeBearer(bearer);
  if (pair === null || !(isApiKey(pair.apiKey) || isApiKey(pair.apiKey, NARROWED_PREFIX))) return null;
  const hash = await sha256(new TextEncoder().encode(pair.apiKey));
  const at = now();
  const known = cache.get(hash, at);
  const isClaimed = (key: VerifiedKey) => equalInConstantTime(key.accountId, pair.accountId);
  return {
    credential: `key:${hash}`,
    accountId: known != null && isClaimed(known) ? known.accountId : null,
    isOfUser: false,
    isOurs: known === undefined ? lately.get(hash, at) === true : known !== null,
    verify: async () => {
      const key = await verifyKey(directory, hash, at, defer);
      if (key === null || !isClaimed(key)) return null;
      const actor = { type: "key" as const, ...key };
      return isOutside(actor) && roomId !== null ? keyInRoom(db, actor, roomId) : actor;
    },
  };
};
