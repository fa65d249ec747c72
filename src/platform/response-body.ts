/** Reads the beginning of a response's body, until a deadline. */

const MAX_READ_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 4 * 1024;

export interface ResponseBody {
  readonly text: string;
  /** How reading ended; `whole` includes a body that was longer than what is read. */
  readonly end: "whole" | "timeout" | "broken";
}

const TIMED_OUT = Symbol("timed out");

const expiry = (deadline: AbortSignal): Promise<typeof TIMED_OUT> =>
  new Promise((resolve) => {
    if (deadline.aborted) resolve(TIMED_OUT);
    else deadline.addEventListener("abort", () => resolve(TIMED_OUT), { once: true });
  });

/** Reads the response's body; never rejects. Closes the connection when the body is longer than what is read. */
export async function readBody({ body }: Response, deadline: AbortSignal): Promise<ResponseBody> {
  if (body === null) return { text: "", end: "whole" };
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const expired = expiry(deadline);
  const kept: Uint8Array[] = [];
  let read = 0;
  const ended = (end: ResponseBody["end"]): ResponseBody => ({ text: decode(kept), end });
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
    reader.cancel().catch(() => {}); // the receiver may have closed the connection already
  }
}

/** The bytes as text, without a character that was cut off at the end. */
function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
}
