/** Reads of streams that wait: one request for each answer, or one for many as Server-Sent Events. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import { concatBytes } from "../../platform/crypto/encoding.ts";
import type { Room } from "../engine/room.ts";
import {
  controlEventOf,
  cursorAfter,
  dataEventOf,
  isSentAsText,
  laterCursor,
} from "../streams/stream-events.ts";
import type { Writer } from "../types/documents.ts";
import { type EventsRead, type StreamPart, type StreamRead, StreamRefused } from "../types/streams.ts";

const SHARED_BYTES = 16 * 1024;

interface ReadPorts {
  /** The room as it is now. Throws while it is being restored. */
  room(): Room;
  now(): number;
  /** Throws a {@link StreamRefused} once the user may not read any more. */
  requireReader(writer: Writer): Promise<void>;
  /** Resolves when everything that was written is on disk. */
  synced(): Promise<void>;
}

/** Asks for the right of a user whenever the room has learned of a change; the Worker asks for the credential now and then. */
function readerAfterCommands(ports: ReadPorts, writer: Writer | undefined): () => Promise<void> {
  let { revision } = ports.room().commands;
  return async () => {
    const now = ports.room().commands.revision;
    if (writer === undefined || now === revision) return;
    await ports.requireReader(writer);
    revision = now;
  };
}

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
      await live.changed(endsAt - ports.now());
      await requireReader();
      const later = ports.room().streams.read(name, part.next);
      if (later.data.length > 0 || later.isClosed || ports.now() >= endsAt) return later;
    }
  } finally {
    live.end();
  }
}

/**
 * Sends what a stream has and gets, until it is closed or a minute is over: clients then read on. A reader far behind is
 * sent one event: the rate of requests bounds how much it can have. Throws a {@link StreamRefused}.
 */
export function respondWithEvents(ports: ReadPorts, read: EventsRead): Response {
  const { name, writer } = read;
  const { streams } = ports.room();
  const first = streams.read(name, read.from, true);
  const live = streams.live.open(first.id, writer?.userId);
  const cursor = cursorAfter(read.cursor, ports.now());
  const endsAt = ports.now() + STREAM_LIMITS.eventsMs;
  const requireReader = readerAfterCommands(ports, writer);
  let at: string | null = null;
  let hasLeft = false;
  // A client that takes nothing does not keep the stream.
  const timer = setTimeout(() => live.end(), STREAM_LIMITS.eventsMs);
  const end = () => {
    clearTimeout(timer);
    live.end();
  };

  /** Null when the response is over: also when another stream has the name. */
  const next = async (): Promise<StreamPart | null> => {
    if (at !== null && live.isPaused) await live.changed(endsAt - ports.now());
    for (;;) {
      await requireReader();
      const part = at === null ? first : ports.room().streams.read(name, at, true);
      if (live.isEnded || part.id !== first.id) return null;
      if (at === null || part.isClosed) return part;
      const leftMs = endsAt - ports.now();
      if (leftMs <= 0) return null;
      if (part.data.length > 0) return part;
      await live.changed(leftMs);
    }
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const part = await next();
    if (part !== null) {
      const data = dataEventOf(part);
      await ports.synced();
      at = part.next;
      if (hasLeft) return;
      const control = controlEventOf(part, laterCursor(cursor, ports.now()));
      // Small events leave together: each chunk has a price on its way. Large data is shared by its readers.
      if (data.length > SHARED_BYTES) controller.enqueue(data);
      controller.enqueue(data.length > SHARED_BYTES ? control : concatBytes(data, control));
    }
    if (hasLeft || (part !== null && !part.isClosed && part.isUpToDate)) return;
    end();
    controller.close();
  };
  const source = {
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) =>
      pull(controller).catch((error: unknown) => {
        end();
        if (!(error instanceof StreamRefused)) throw error;
        controller.close(); // the client learns why when it reads on
      }),
    cancel: () => {
      hasLeft = true;
      end();
    },
  };
  const encoding = isSentAsText(first.contentType) ? undefined : { "Stream-SSE-Data-Encoding": "base64" };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "private, no-cache", ...encoding },
  });
}
