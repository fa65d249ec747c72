/** How many bytes of writes may be unanswered on one connection. */

const FIRST_WINDOW_BYTES = 16 * 1024;
const MIN_WINDOW_BYTES = 4 * 1024;
const MAX_WINDOW_BYTES = 512 * 1024;
/** How long what is sent may wait for what was sent before it. */
const QUEUE_MS = 250;

/** The bytes that pass through the connection in a round trip and {@link QUEUE_MS}. */
export class SendWindow {
  bytes = FIRST_WINDOW_BYTES;
  /** The shortest round trip, which waited for the least. */
  #roundTripMs = Infinity;

  /** Something was answered after `elapsedMs`; `bytes`, its own included, were unanswered when it was sent. */
  measure(bytes: number, elapsedMs: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs, elapsedMs);
    const allowedMs = this.#roundTripMs + QUEUE_MS;
    const measured = (bytes * allowedMs) / Math.max(elapsedMs, 1);
    const next = elapsedMs > allowedMs ? measured : Math.max(measured, this.bytes);
    this.bytes = Math.min(Math.max(next, MIN_WINDOW_BYTES), MAX_WINDOW_BYTES);
  }
}
