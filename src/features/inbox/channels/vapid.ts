/** The key by which push services know this deployment, and its proof for each of them (VAPID, RFC 8292). */

import { HOUR_MS } from "@atrium/contract/time.ts";
import { base64url, SignJWT } from "jose";
import { concatBytes } from "../../../platform/crypto/encoding.ts";

export interface VapidKey {
  /** The uncompressed point as Base64url: the `applicationServerKey` of browsers. */
  readonly publicKey: string;
  readonly privateKey: CryptoKey;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
/** PKCS #8 of a private key on P-256 up to its 32 bytes. */
const PKCS8 = base64url.decode("MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCA");
/** Begins an uncompressed point. */
const UNCOMPRESSED = Uint8Array.of(4);
/** RFC 8292 allows 24 hours. */
const VALID_MS = 12 * HOUR_MS;

/** The key pair of a private key, given as 32 bytes in Base64url. */
export async function vapidKey(secret: string): Promise<VapidKey> {
  const pkcs8 = concatBytes(PKCS8, base64url.decode(secret));
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, ALGORITHM, true, ["sign"]);
  const { x = "", y = "" } = (await crypto.subtle.exportKey("jwk", privateKey)) as JsonWebKey;
  const point = concatBytes(UNCOMPRESSED, base64url.decode(x), base64url.decode(y));
  return { publicKey: base64url.encode(point), privateKey };
}

/** The `Authorization` header for a push service. `contact` is a `mailto:` or `https:` address, `now` in epoch ms. */
export async function vapidHeader(
  { publicKey, privateKey }: VapidKey,
  { endpoint, contact, now }: { readonly endpoint: string; readonly contact: string; readonly now: number },
): Promise<string> {
  const token = await new SignJWT()
    .setProtectedHeader({ typ: "JWT", alg: "ES256" })
    .setAudience(new URL(endpoint).origin)
    .setSubject(contact)
    .setExpirationTime(Math.floor((now + VALID_MS) / 1000))
    .sign(privateKey);
  return `vapid t=${token}, k=${publicKey}`;
}
