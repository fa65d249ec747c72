/** Verifies that a webhook message comes from the service and is recent. */
import { Webhook } from "standardwebhooks";
import { AtriumError, invalid } from "../core/error.ts";
import { credential } from "../core/rest.ts";
import type * as wire from "../wire/resources.ts";

/** A request's headers: a Fetch API `Headers`, or Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const SIGNED_HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
/** The signature covers every byte, including a byte order mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Returns the event in a webhook message. `payload` is the raw request body, before any parsing; `secret` is the
 * webhook's secret, `whsec_…`. A webhook that listens to events without a room, such as `identity.created`, names their types
 * too. Throws an {@link AtriumError} with the code `INVALID_SIGNATURE` if the message was not signed with the secret, or
 * if its timestamp is more than five minutes in the past or the future, and VALIDATION_ERROR for a parsed body or an
 * empty secret.
 */
export function verifyWebhook<Received extends wire.EventPage["events"][number] = wire.AtriumEvent>(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Received {
  const verified = verify(payload, headers, secret);
  if (Array.isArray(verified)) throw unverified("it is a batch; use verifyWebhookBatch");
  return verified as Received;
}

/**
 * Returns the events in a webhook message, in their order: all events of a batch, or one without batches.
 * Otherwise as {@link verifyWebhook}.
 */
export function verifyWebhookBatch<Received extends wire.EventPage["events"][number] = wire.AtriumEvent>(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Received[] {
  const verified = verify(payload, headers, secret);
  return (Array.isArray(verified) ? verified : [verified]) as Received[];
}

function verify(payload: string | Uint8Array, headers: WebhookHeaders, secret: string): unknown {
  const isBytes = ArrayBuffer.isView(payload) || (payload as unknown) instanceof ArrayBuffer;
  if (typeof payload !== "string" && !isBytes) throw invalid("Webhooks", PARSED);
  const body = typeof payload === "string" ? payload : decoder.decode(payload);
  const key = credential("secret", secret);
  const signed = Object.fromEntries(SIGNED_HEADERS.map((name) => [name, readHeader(Object(headers), name)]));
  try {
    return new Webhook(key).verify(body, signed);
  } catch (error) {
    throw unverified(error instanceof Error ? error.message : String(error), error);
  }
}

const PARSED =
  "payload must be the raw request body, as text or bytes: a parsed one has lost the bytes that were signed";

const unverified = (reason: string, cause?: unknown): AtriumError =>
  new AtriumError({
    code: "INVALID_SIGNATURE",
    module: "Webhooks",
    message: `The message could not be verified: ${reason}`,
    ...(cause !== undefined && { cause }),
  });

function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") return headers.get(name) ?? "";
  const [, value = ""] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return String(value);
}
