/** Reads what a receiver answers: a bounded part of it, no longer than the deadline, and keeps the start. */

/** As much is read, so that a polite receiver can finish. */
export const MAX_READ_BYTES = 64 * 1024;
/** And as much of it is kept. */
export const MAX_KEPT_BYTES = 4 * 1024;

export interface ReceiverResponse {
  /** What was kept of it, as UTF-8. */
  readonly text: string;
  /** How the reading ended: `whole` also means that the rest was left unread. */
  readonly end: "whole" | "timeout" | "broken";
}

const TIMED_OUT = Symbol("timed out");

/** Settles when the deadline has passed. */
const expiry = (deadline: AbortSignal): Promise<typeof TIMED_OUT> =>
  new Promise((resolve) => {
    if (deadline.aborted) resolve(TIMED_OUT);
    else deadline.addEventListener("abort", () => resolve(TIMED_OUT), { once: true });
  });

/** Reads the answer's body; never throws. The connection is given up when there is more than is read. */
export async function readResponse({ body }: Response, deadline: AbortSignal): Promise<ReceiverResponse> {
  if (body === null) return { text: "", end: "whole" };
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const expired = expiry(deadline);
  const kept: Uint8Array[] = [];
  let read = 0;
  const ended = (end: ReceiverResponse["end"]): ReceiverResponse => ({ text: decode(kept), end });
  try {
    while (read < MAX_READ_BYTES) {
      const next = await Promise.race([reader.read(), expired]);
      if (next === TIMED_OUT) return ended("timeout");
      if (next.done) return ended("whole");
      if (read < MAX_KEPT_BYTES) kept.push(next.value.slice(0, MAX_KEPT_BYTES - read));
      read += next.value.byteLength;
    }
    return ended("whole");
  } catch {
    return ended(deadline.aborted ? "timeout" : "broken");
  } finally {
    reader.cancel().catch(() => {}); // nobody reads on; that the other side is gone is no news
  }
}

/** The bytes as text; a character that was cut in two at the end is left out. */
function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
}
