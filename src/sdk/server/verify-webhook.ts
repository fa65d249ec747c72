/** Tells whether a message to a webhook comes from the service, and is no old one sent again. */
import { Webhook } from "standardwebhooks";
import { AtriumError } from "../core/error.ts";
import type { AtriumEvent } from "../wire/events.ts";

/** A request's headers, as the Fetch API or Node has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const SIGNED_HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") return headers.get(name) ?? "";
  const [, value = ""] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return String(value);
}

/**
 * The event that a message to a webhook holds. `payload` is the request's body as it came, before anything has
 * parsed it; `secret` the webhook's, `whsec_…`. Throws an {@link AtriumError} with the code `INVALID_SIGNATURE`
 * when the message was not signed with the secret, or more than five minutes ago, or in five minutes' time.
 */
export function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): AtriumEvent {
  const body = typeof payload === "string" ? payload : decoder.decode(payload);
  const signed = Object.fromEntries(SIGNED_HEADERS.map((name) => [name, readHeader(headers, name)]));
  try {
    return new Webhook(secret).verify(body, signed) as AtriumEvent;
  } catch (error) {
    const message = `The message is not to be trusted: ${error instanceof Error ? error.message : error}`;
    throw new AtriumError({ code: "INVALID_SIGNATURE", module: "Webhooks", message });
  }
}

/** Every byte counts in what is signed, that of a byte order mark too. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
