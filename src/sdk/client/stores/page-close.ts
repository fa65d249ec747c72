/** What happens when the page is closed: a warning while changes are unsynced, and a last request for what is left. */
import { byteLength } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { SentBatch, WriteQueue } from "./write-queue.ts";

/** Browsers allow 64 KiB for all requests that outlive a page; the rest is for what surrounds the batches. */
const MAX_KEEPALIVE_BYTES = 60 * 1024;
/** Batches that are taken from the queue now are small, so that the newest ones fit. */
const MAX_BATCH_BYTES = 15 * 1024;
/** The most batches that the service takes in one request. */
const MAX_BATCHES = 100;

/** The address that takes batches, and the user's current token. */
interface Destination {
  readonly url: string;
  readonly token: string;
}

export interface PageCloseOptions {
  /** Null while there is no token. */
  readonly destination: () => Destination | null;
  readonly warn: boolean;
}

/** Listens to the page, if there is one, only while changes are unsynced: listeners can slow down its closing. */
export function watchPageClose(
  queue: WriteQueue,
  unsynced: { on(event: "unsyncedChanges", listener: (hasUnsynced: boolean) => void): unknown },
  runtime: Runtime,
  options: PageCloseOptions,
): void {
  let stop = () => {};
  unsynced.on("unsyncedChanges", (hasUnsynced) => {
    stop();
    stop = hasUnsynced ? listen(queue, runtime, options) : () => {};
  });
}

function listen(queue: WriteQueue, runtime: Runtime, { destination, warn }: PageCloseOptions): () => void {
  const stops = [
    runtime.listen("pagehide", () => {
      const to = destination();
      if (to !== null) sendLast(queue.sendAll(MAX_BATCH_BYTES), to, runtime);
    }),
    warn ? runtime.listen("beforeunload", ask) : () => {},
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function ask(event: Event): void {
  event.preventDefault();
  event.returnValue = true; // for Chrome before 119
}

/**
 * Sends the batches under the ids that they have on the socket, so that each takes effect once. If not all fit into
 * requests that outlive the page, the newest ones do.
 */
function sendLast(batches: readonly SentBatch[], to: Destination, runtime: Runtime): void {
  const kept: object[] = [];
  const others: object[] = [];
  let left = MAX_KEEPALIVE_BYTES;
  for (const { requestId, data } of [...batches].reverse()) {
    const request = { requestId, ...data };
    const bytes = byteLength(JSON.stringify(request));
    const fits = bytes <= left && kept.length < MAX_BATCHES;
    if (fits) left -= bytes;
    (fits ? kept : others).unshift(request);
  }
  if (kept.length > 0) post(to, runtime, kept, true);
  for (const request of others) post(to, runtime, [request], false);
}

function post(to: Destination, runtime: Runtime, requests: readonly object[], keepalive: boolean): void {
  const { url, token } = to;
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  // No one is left to receive the response; if the page is shown again, the socket has it.
  const body = JSON.stringify({ requests });
  runtime.fetch(url, { method: "POST", headers, body, keepalive }).catch(() => {});
}
