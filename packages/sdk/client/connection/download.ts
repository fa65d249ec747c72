/** Downloads a large store over HTTP, part by part: loaded by clients that open one. */
import type { Runtime } from "../../core/runtime.ts";
import type { Connection } from "./connection.ts";
import type { Data } from "./frames.ts";

const PART_TIMEOUT_MS = 180_000;
const NEWLINE = 10;
const BUFFER_BYTES = 4 * 1024 * 1024;

export interface Downloading {
  /** Parts ahead of the received changes: taken in after the next answer of the room. */
  readonly early: Data[];
  isOutdated: boolean;
}

/** `lineBytes` is the least size of each part but the last; undefined if there is one part. */
interface Address {
  readonly url: string;
  readonly lineBytes: number | undefined;
}

/** Takes in parts as they arrive. Returns null at the end, otherwise the key to continue after; undefined for the start. */
export async function downloadStore(
  connection: Connection,
  { download, lineBytes }: Data,
  load: Downloading,
  take: (part: Data) => void,
): Promise<string | null | undefined> {
  const { runtime, requests, changeStream } = connection;
  const url = connection.urlOf("downloads", String(download));
  const address = { url, lineBytes: typeof lineBytes === "number" ? lineBytes : undefined };
  let after: string | undefined;
  try {
    for await (const part of readParts(address, runtime, requests.signal)) {
      if (load.isOutdated) break;
      // A part that is newer than the received changes waits for them.
      if (Number(part.seq) > (changeStream.seq ?? 0)) load.early.push(part);
      else take(part);
      if (part.next === null && load.early.length === 0) return null;
      if (Array.isArray(part.entries) && part.entries.length > 0) after = String(part.entries.at(-3));
    }
  } catch {}
  if (requests.ending !== null) throw requests.ending;
  return after;
}

async function* readParts(
  { url, lineBytes }: Address,
  runtime: Runtime,
  lost: AbortSignal,
): AsyncGenerator<Data> {
  const aborting = new AbortController();
  const abort = () => aborting.abort();
  let cancelTimer = () => {};
  const waitForPart = () => {
    cancelTimer();
    cancelTimer = runtime.after(PART_TIMEOUT_MS, abort);
  };
  lost.throwIfAborted();
  lost.addEventListener("abort", abort);
  try {
    waitForPart();
    const { ok, body, status } = await runtime.fetch(url, { signal: aborting.signal });
    if (!ok || body === null) throw new Error(`The download was refused with ${status}`);
    for await (const text of readTexts(body, lineBytes)) {
      waitForPart();
      yield JSON.parse(text);
    }
  } finally {
    cancelTimer();
    lost.removeEventListener("abort", abort);
    abort();
  }
}

async function* readTexts(body: ReadableStream<Uint8Array>, lineBytes?: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const line = new Line();
  // A search of each byte for the newline would take as long as decoding.
  const findEnd = (bytes: Uint8Array): number =>
    line.length + bytes.length > (lineBytes ?? Number.POSITIVE_INFINITY) ? bytes.indexOf(NEWLINE) : -1;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    let unread = read.value;
    for (let end = findEnd(unread); end >= 0; end = findEnd(unread)) {
      line.append(unread.subarray(0, end));
      yield line.take(1, 0);
      unread = unread.subarray(end + 1);
    }
    line.append(unread);
  }
  if (lineBytes === undefined) yield line.take(0, 0);
  else if (line.length > 1) yield line.take(1, 2);
}

const decoder = new TextDecoder();

/** Collects a line: decoding it whole is several times as fast as decoding each chunk. */
class Line {
  length = 0;
  #bytes = new Uint8Array(BUFFER_BYTES);

  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.length);
    this.length = length;
  }

  take(start: number, end: number): string {
    const text = decoder.decode(this.#bytes.subarray(start, this.length - end));
    this.length = 0;
    return text;
  }
}
