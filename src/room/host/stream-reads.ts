/** Reads of streams that wait: one request for each answer, or one for many as Server-Sent Events. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import type { Room } from "../engine/room.ts";
import { cursorAfter, eventsOf, isSentAsText, sendableOf } from "../streams/stream-events.ts";
import type { Writer } from "../types/documents.ts";
import { type EventsRead, type StreamPart, type StreamRead, StreamRefused } from "../types/streams.ts";

/** A live read asks the database at most this often whether its user may still read. */
const CHECK_INTERVAL_MS = 10_000;

interface ReadPorts {
  /** The room as it is now. Throws while it is being restored. */
  room(): Room;
  now(): number;
  /** Throws a {@link StreamRefused} once the user may not read any more. */
  requireReader(writer: Writer): Promise<void>;
  /** Resolves when everything that was written is on disk. */
  synced(): Promise<void>;
}

/** Reads a part. At the end of an open stream, waits up to `waitMs` for more. Throws a {@link StreamRefused}. */
export async function readPart(
  ports: ReadPorts,
  { name, from, writer }: StreamRead,
  waitMs: number,
): Promise<StreamPart> {
  const part = ports.room().streams.read(name, from);
  if (waitMs === 0 || part.data.length > 0 || part.isClosed) return part;
  const live = ports.room().streams.live.open(part.id);
  try {
    await live.changed(waitMs);
  } finally {
    live.end();
  }
  if (writer !== undefined) await ports.requireReader(writer);
  return ports.room().streams.read(name, part.next);
}

/**
 * Sends what a stream has and gets, until it is closed or a minute is over: clients then read on. A reader far behind is
 * sent one event: the rate of requests bounds how much it can have. Throws a {@link StreamRefused}.
 */
export function respondWithEvents(ports: ReadPorts, { name, from, cursor, writer }: EventsRead): Response {
  const { streams } = ports.room();
  const first = streams.read(name, from);
  const live = streams.live.open(first.id);
  const endsAt = ports.now() + STREAM_LIMITS.eventsMs;
  let checkedAt = ports.now();
  let revision = ports.room().commands.revision;
  let part: StreamPart | null = first;
  let at = first.from;

  const requireReader = async () => {
    const now = ports.room().commands.revision;
    if (writer === undefined || (now === revision && ports.now() < checkedAt + CHECK_INTERVAL_MS)) return;
    await ports.requireReader(writer);
    [revision, checkedAt] = [now, ports.now()];
  };
  /** Null when the response is over. */
  const next = async (): Promise<StreamPart | null> => {
    while (!live.isEnded) {
      const leftMs = endsAt - ports.now();
      const read = ports.room().streams.read(name, at);
      if (sendableOf(read).length > 0 || read.isClosed) return read;
      if (leftMs <= 0) return null;
      await live.changed(leftMs);
      await requireReader();
    }
    return null;
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const found = part ?? (await next());
    part = null;
    if (found !== null) {
      const { text, next: sentUpTo } = eventsOf(found, cursorAfter(cursor, ports.now()));
      await ports.synced();
      at = sentUpTo;
      if (!live.isEnded) controller.enqueue(text);
    }
    if (live.isEnded || (found !== null && !found.isClosed && found.isUpToDate)) return;
    live.end();
    controller.close();
  };
  const source = {
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) =>
      pull(controller).catch((error: unknown) => {
        live.end();
        if (!(error instanceof StreamRefused)) throw error;
        controller.close(); // the client learns why when it reads on
      }),
    cancel: () => live.end(),
  };
  const encoding = isSentAsText(first.contentType) ? undefined : { "Stream-SSE-Data-Encoding": "base64" };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-cache", ...encoding },
  });
}
