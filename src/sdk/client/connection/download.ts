/** Downloads a large store over HTTP, part by part: loaded by clients that open one. */
import type { Runtime } from "../../core/runtime.ts";
import type { Connection } from "./connection.ts";
import type { Data } from "./frames.ts";

/** A part that takes longer is given up. */
const PART_TIMEOUT_MS = 180_000;
const NEWLINE = 10;
/** Room for a usual part. */
const BUFFER_BYTES = 4 * 1024 * 1024;

/** What is loaded by a download. */
export interface Downloading {
  /** The parts that are ahead of the changes: they can be taken in after the room's next answer. */
  readonly early: Data[];
  /** Whether what was loaded so far may be out of date. */
  isOutdated: boolean;
}

/** Where a download is, and how many bytes each part but the last has at least; undefined if there is one part. */
interface Address {
  readonly url: string;
  readonly lineBytes: number | undefined;
}

/**
 * Takes in the parts of what the room has offered as they arrive, as far as that works. Returns null when the store is complete, and otherwise the
 * key after which the room has to be asked for more: undefined for all. Throws the error that has ended the connection
 * for good.
 */
export async function downloadStore(
  connection: Connection,
  { download, lineBytes }: Data,
  load: Downloading,
  take: (part: Data) => void,
): Promise<string | null | undefined> {
  const { runtime, requests, changeStream } = connection.context;
  const url = connection.urlOf("downloads", String(download));
  const address = { url, lineBytes: typeof lineBytes === "number" ? lineBytes : undefined };
  let after: string | undefined;
  try {
    for await (const part of readParts(address, runtime, requests.signal)) {
      if (load.isOutdated) break;
      // A change on its way may be older than this part: the part must not be taken in before it.
      if (Number(part.seq) > (changeStream.seq ?? 0)) load.early.push(part);
      else take(part);
      if (part.next === null && load.early.length === 0) return null;
      if (Array.isArray(part.entries) && part.entries.length > 0) after = String(part.entries.at(-3));
    }
  } catch {
    // The rest comes over the socket.
  }
  if (requests.ending !== null) throw requests.ending;
  return after;
}

/** Ends with an error when the connection is lost. */
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

/** The texts of the parts: the items of an array, each on a line of its own. */
async function* readTexts(body: ReadableStream<Uint8Array>, lineBytes?: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const line = new Line();
  // To look at each byte would take as long as to decode it.
  const findEnd = (bytes: Uint8Array): number =>
    line.length + bytes.length > (lineBytes ?? Number.POSITIVE_INFINITY) ? bytes.indexOf(NEWLINE) : -1;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    let rest = read.value;
    for (let end = findEnd(rest); end >= 0; end = findEnd(rest)) {
      line.append(rest.subarray(0, end));
      yield line.take(1, 0);
      rest = rest.subarray(end + 1);
    }
    line.append(rest);
  }
  if (lineBytes === undefined) yield line.take(0, 0);
  // The array ends with a newline and a bracket.
  else if (line.length > 1) yield line.take(1, 2);
}

const decoder = new TextDecoder();

/** A line that arrives. To decode it as a whole is several times as fast as to decode what arrives. */
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

  /** The text without some bytes at its ends. The next line begins. */
  take(start: number, end: number): string {
    const text = decoder.decode(this.#bytes.subarray(start, this.length - end));
    this.length = 0;
    return text;
  }
}
