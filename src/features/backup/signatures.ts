/** Signs what a backup has: a restore takes nothing that this service has not written, for this organization and place. */
import { hex, sha256 } from "../../platform/crypto/hash.ts";

const SIGNATURE = /^[0-9a-f]{64}$/;
const encoder = new TextEncoder();

const keys = new Map<string, Promise<CryptoKey>>();

/** HKDF gives signatures a key of their own, which says nothing about the secret's other uses. */
async function deriveKey(secret: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: encoder.encode("backups of organizations"),
    },
    material,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign", "verify"],
  );
}

function keyOf(secret: string): Promise<CryptoKey> {
  const key = keys.get(secret) ?? deriveKey(secret);
  keys.set(secret, key);
  return key;
}

export interface Signatures {
  /** `place` says which part of which backup the bytes are. */
  sign(place: readonly string[], bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  isGenuine(signature: string, place: readonly string[], bytes: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

async function signedText(place: readonly string[], bytes: Uint8Array<ArrayBuffer>) {
  return encoder.encode(`${JSON.stringify(place)}\n${await sha256(bytes)}`);
}

/** Signs with the first secret, and accepts the signatures of all. */
export const signaturesOf = (secrets: readonly [string, ...string[]]): Signatures => ({
  async sign(place, bytes) {
    const signed = await crypto.subtle.sign("HMAC", await keyOf(secrets[0]), await signedText(place, bytes));
    return hex(new Uint8Array(signed));
  },
  async isGenuine(signature, place, bytes) {
    if (!SIGNATURE.test(signature)) return false;
    const text = await signedText(place, bytes);
    const given = Uint8Array.from({ length: 32 }, (_, at) =>
      Number.parseInt(signature.slice(2 * at, 2 * at + 2), 16),
    );
    for (const secret of secrets)
      if (await crypto.subtle.verify("HMAC", await keyOf(secret), given, text)) return true;
    return false;
  },
});
