/** Downloads a large store over HTTP, part by part: loaded by clients that open one. */
import type { Runtime } from "../../core/runtime.ts";
import type { Data } from "./frames.ts";
import type { RoomSocketContext } from "./room-socket.ts";

/** A part has some 8 MiB; one that takes longer is given up. */
const PART_TIMEOUT_MS = 180_000;

/** What is loaded by a download. */
export interface Downloading {
  /** The parts that are ahead of the changes: they can be taken in after the room's next answer. */
  readonly early: Data[];
  /** Whether what was loaded so far may be out of date. */
  isOutdated: boolean;
}

/**
 * Takes in the parts as they arrive, as far as that works. Returns null when the store is complete, and otherwise the
 * key after which the room has to be asked for more: undefined for all. Throws the error that has ended the connection
 * for good.
 */
export async function downloadStore(
  { runtime, requests, changeStream }: RoomSocketContext,
  url: string,
  load: Downloading,
  take: (part: Data) => void,
): Promise<string | null | undefined> {
  let after: string | undefined;
  try {
    for await (const part of readParts(url, runtime, requests.signal)) {
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
async function* readParts(url: string, runtime: Runtime, lost: AbortSignal): AsyncGenerator<Data> {
  const aborting = new AbortController();
  const abort = () => aborting.abort();
  let cancelTimer = () => {};
  const fetchPart = async (): Promise<string> => {
    cancelTimer();
    cancelTimer = runtime.after(PART_TIMEOUT_MS, abort);
    const response = await runtime.fetch(url, { signal: aborting.signal });
    if (!response.ok) throw new Error(`The download was refused with ${response.status}`);
    return response.text();
  };
  lost.throwIfAborted();
  lost.addEventListener("abort", abort);
  try {
    for (let next: Promise<string> | null = fetchPart(); next !== null; ) {
      const part: string = await next;
      // A part ends with `"next":null}` or with the last key: then another one arrives while this one is parsed.
      next = part.endsWith('"}') ? fetchPart() : null;
      next?.catch(() => {}); // if this one is the last that is taken
      yield JSON.parse(part);
    }
  } finally {
    cancelTimer();
    lost.removeEventListener("abort", abort);
    abort();
  }
}
