/** The keys that sign and verify users' tokens, one for each secret of the deployment. */
import { hex } from "../../platform/crypto/hash.ts";

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const encoder = new TextEncoder();

/** Imported keys, kept for the isolate's life, because importing one costs more than signing. */
const keys = new Map<string, Promise<SigningKey>>();

export function signingKey(secret: string): Promise<SigningKey> {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = importKey(secret);
  keys.set(secret, key);
  return key;
}

/** The key's ID is a MAC of a constant: it distinguishes secrets and reveals nothing about them. */
async function importKey(secret: string): Promise<SigningKey> {
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode("atrium key id")));
  return { kid: hex(mac.slice(0, 4)), key };
}
