/** What one request to a webhook says: an event, or a batch of events as a JSON array. */
import type { OutgoingEvent } from "../../delivery/port/delivery-record.ts";
import type { WebhookMessage } from "../../delivery/port/webhook-request.ts";
import { sha256 } from "../../platform/crypto/hash.ts";
import { commonTrace, readTrace } from "../../platform/trace.ts";

type Sent = Pick<OutgoingEvent, "eventId" | "body" | "trace"> & { readonly replayId: string | null };

export const messageOf = ({ eventId, body, replayId, trace }: Sent): WebhookMessage => ({
  ...{ id: eventId, body, replayId, trace: readTrace(trace) },
});

/** A batch of one event is an array too: a receiver of batches needs to know one form only. */
export async function batchOf(events: readonly [Sent, ...Sent[]]): Promise<WebhookMessage> {
  const ids = events.map(({ eventId }) => eventId);
  const hash = await sha256(new TextEncoder().encode(ids.join()));
  return {
    id: `batch_${hash.slice(0, 32)}`,
    body: `[${events.map(({ body }) => body).join()}]`,
    replayId: events[0].replayId,
    trace: commonTrace(events.map(({ trace }) => trace)),
  };
}
