/** Reads of streams that wait: one request for each answer, or one for many as Server-Sent Events. */
import { concatBytes } from "../../platform/crypto/encoding.ts";
import {
  controlEventOf,
  cursorAfter,
  dataEventOf,
  isSentAsText,
  laterCursor,
} from "../streams/stream-events.ts";
import type { EventsRead, StreamPart, StreamRead } from "../types/streams.ts";
import { type ReadPorts, readerAfterCommands, respondLive } from "./live-response.ts";

const SHARED_BYTES = 16 * 1024;

/** Reads a part. At the end of an open stream, waits up to `waitMs` for more. Throws a {@link StreamRefused}. */
export async function readPart(
  ports: ReadPorts,
  { name, from, writer }: StreamRead,
  waitMs: number,
): Promise<StreamPart> {
  const part = ports.room().streams.read(name, from);
  if (waitMs === 0 || part.data.length > 0 || part.isClosed) return part;
  const requireReader = readerAfterCommands(ports, writer);
  const live = ports.room().streams.live.open(part.id, writer?.userId);
  const endsAt = ports.now() + waitMs;
  try {
    for (;;) {
      await requireReader();
      const later = ports.room().streams.read(name, part.next);
      if (later.data.length > 0 || later.isClosed || ports.now() >= endsAt) return later;
      await live.changed(endsAt - ports.now());
    }
  } finally {
    live.end();
  }
}

/**
 * Sends what a stream has and gets, until it is closed or a minute is over: clients then read on. A reader far behind is
 * sent one event: the rate of requests bounds how much it can have. Rejects with a {@link StreamRefused}.
 */
export async function respondWithEvents(ports: ReadPorts, read: EventsRead): Promise<Response> {
  const { name, writer } = read;
  const { streams } = ports.room();
  const first = streams.read(name, read.from, true);
  const live = streams.live.open(first.id, writer?.userId);
  const cursor = cursorAfter(read.cursor, ports.now());
  let at: string | null = null;
  const next = () => {
    const part = at === null ? first : ports.room().streams.read(name, at, true);
    if (part.id !== first.id) return null; // another stream has the name
    if (at !== null && !part.isClosed && part.data.length === 0) return undefined;
    at = part.next;
    const data = dataEventOf(part);
    const control = controlEventOf(part, laterCursor(cursor, ports.now()));
    return {
      // Small events leave together: each chunk has a price on its way. Large data is shared by its readers.
      chunks: data.length > SHARED_BYTES ? [data, control] : [concatBytes(data, control)],
      isLast: part.isClosed || !part.isUpToDate,
    };
  };
  const headers = isSentAsText(first.contentType) ? undefined : { "Stream-SSE-Data-Encoding": "base64" };
  return respondLive(ports, { live, writer, headers, next });
}
