/** Signatures as Standard Webhooks defines them: HMAC-SHA256 over id, time and body, with each secret in force. Made and verified. */
import { base64ToBytes, bytesToBase64, concatBytes } from "./encoding.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;
const encoder = new TextEncoder();

interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

export const createSecret = (randomBytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))): string =>
  PREFIX + bytesToBase64(randomBytes);

const keyOf = (secret: string, use: "sign" | "verify"): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", base64ToBytes(secret.slice(PREFIX.length)), HMAC, false, [use]);

async function signWith(secret: string, content: BufferSource): Promise<string> {
  const key = await keyOf(secret, "sign");
  return `v1,${bytesToBase64(new Uint8Array(await crypto.subtle.sign("HMAC", key, content)))}`;
}

/** Headers with which a receiver verifies the message by any one of the secrets. */
export async function signatureHeaders(
  { id, timestampSeconds, body }: SignedMessage,
  secrets: readonly string[],
): Promise<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const content = encoder.encode(`${id}.${timestampSeconds}.${body}`);
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, content)));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}

/** The largest difference between the time of a message and ours, as Standard Webhooks recommends. */
export const TOLERANCE_SECONDS = 5 * 60;
const MAX_SIGNATURES = 10;
/** A dot is not allowed: it separates the signed fields. */
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

interface SignedHeaders {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** The headers of a signed message; null when one is missing or malformed. */
export function readSignedHeaders(headers: Headers): SignedHeaders | null {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  if (!MESSAGE_ID.test(id) || !/^\d{1,12}$/.test(timestamp)) return null;
  const given = (headers.get("webhook-signature") ?? "").split(" ").slice(0, MAX_SIGNATURES);
  const signatures = given
    .filter((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one))
    .map((one) => base64ToBytes(one.slice("v1,".length)));
  return signatures.length === 0 ? null : { id, timestampSeconds: Number(timestamp), signatures };
}

/** Whether one of the signatures was made with one of the secrets. The comparison takes the same time for any signature. */
export async function isSignedWith(
  { id, timestampSeconds, signatures }: SignedHeaders,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  const before = encoder.encode(`${id}.${timestampSeconds}.`);
  const content = concatBytes(before, body);
  const keys = await Promise.all(secrets.map((secret) => keyOf(secret, "verify")));
  const checks = keys.flatMap((key) =>
    signatures.map((signature) => crypto.subtle.verify("HMAC", key, signature, content)),
  );
  return (await Promise.all(checks)).includes(true);
}
