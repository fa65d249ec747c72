/** The end of the page: a warning while changes are unsynced, and a last request for them. */
import { byteLength } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { SentBatch, WriteQueue } from "./write-queue.ts";

/** Browsers allow 64 KiB for all requests that outlive a page. */
const MAX_KEEPALIVE_BYTES = 60 * 1024;
const MAX_BATCH_BYTES = 15 * 1024;
const MAX_BATCHES = 100;

interface Destination {
  readonly url: string;
  readonly token: string;
}

interface PageCloseOptions {
  readonly destination: () => Destination | null;
  readonly warn: boolean;
}

/** Listens only while changes are unsynced: listeners can slow down the closing of a page. */
export function watchPageClose(
  queue: WriteQueue,
  unsynced: { on(event: "unsyncedChanges", listener: (hasUnsynced: boolean) => void): unknown },
  runtime: Runtime,
  { destination, warn }: PageCloseOptions,
): void {
  const send = () => {
    const to = destination();
    if (to !== null) sendLast(queue.sendAll(MAX_BATCH_BYTES), to, runtime);
  };
  let stops: (() => void)[] = [];
  unsynced.on("unsyncedChanges", (hasUnsynced) => {
    for (const stop of stops.splice(0)) stop();
    if (hasUnsynced) stops = [runtime.listen("pagehide", send)];
    if (hasUnsynced && warn) stops.push(runtime.listen("beforeunload", ask));
  });
}

function ask(event: Event): void {
  event.preventDefault();
  event.returnValue = true; // needed by Chrome before 119
}

/** Batches keep their ids of the socket, so each takes effect once. The newest get the space of requests that outlive the page. */
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
  // The page does not see the response; a page that is shown again has it from the socket.
  const body = JSON.stringify({ requests });
  runtime.fetch(url, { method: "POST", headers, body, keepalive }).catch(() => {});
}
