/** Signatures as Standard Webhooks defines them: HMAC-SHA256 over id, time and body, with each secret in force. */

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;
const encoder = new TextEncoder();

/** What is signed. */
export interface SignedMessage {
  /** The event's id, the same for every attempt. */
  readonly id: string;
  /** The time of this attempt, in whole seconds since 1970. */
  readonly timestampSeconds: number;
  readonly body: string;
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/** A new secret: `whsec_` and 32 random bytes in Base64. */
export const createSecret = (randomBytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))): string =>
  PREFIX + toBase64(randomBytes);

async function signWith(secret: string, content: BufferSource): Promise<string> {
  const key = await crypto.subtle.importKey("raw", fromBase64(secret.slice(PREFIX.length)), HMAC, false, [
    "sign",
  ]);
  return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", key, content)))}`;
}

/** The headers by which a receiver verifies the message with any one of the secrets. */
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
