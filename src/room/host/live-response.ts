/** Responses of Server-Sent Events that last for up to a minute: their clients then read on. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import type { Room } from "../engine/room.ts";
import type { LiveRead } from "../streams/live-reads.ts";
import type { Writer } from "../types/documents.ts";
import { StreamRefused } from "../types/streams.ts";

/** A comment, which clients ignore. */
export const HEARTBEAT = new TextEncoder().encode(":\n\n");

export interface ReadPorts {
  /** The room as it is now. Throws while it is being restored. */
  room(): Room;
  now(): number;
  /** Throws a {@link StreamRefused} once the user may not read any more. */
  requireReader(writer: Writer): Promise<void>;
  /** Resolves when everything that was written is on disk. */
  synced(): Promise<void>;
}

/**
 * Asks for the right of a user at first, as it may have ended since the Worker asked, and whenever the room has learned of a
 * change that may concern it. The Worker asks for the credential now and then.
 */
export function readerAfterCommands(ports: ReadPorts, writer: Writer | undefined): () => Promise<void> {
  if (writer === undefined) return async () => {};
  const latest = () => ports.room().commands.revisionOf(writer.userId);
  let revision: number | null = null;
  return async () => {
    const now = latest();
    if (now === revision) return;
    await ports.requireReader(writer);
    revision = now;
  };
}

interface Sent {
  readonly chunks: readonly Uint8Array[];
  /** Whether the response ends behind them. */
  readonly isLast: boolean;
}

interface LiveSource {
  readonly live: LiveRead;
  /** The user who reads; absent for the organization. */
  readonly writer?: Writer | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Asked again after so many milliseconds without a change. */
  readonly everyMs?: number;
  /** Undefined while there is nothing to send; null when the response is over. */
  next(): Sent | null | undefined;
}

/** The reader pulls one part after the other, so a slow one holds nothing up. Rejects with a {@link StreamRefused}. */
export async function respondLive(ports: ReadPorts, source: LiveSource): Promise<Response> {
  const { live, writer, everyMs = STREAM_LIMITS.eventsMs } = source;
  const endsAt = ports.now() + STREAM_LIMITS.eventsMs;
  const requireReader = readerAfterCommands(ports, writer);
  await requireReader().catch((error: unknown) => {
    live.end();
    throw error;
  });
  let hasBegun = false;
  let hasLeft = false;
  // A client that takes nothing does not keep the response.
  const timer = setTimeout(() => live.end(), STREAM_LIMITS.eventsMs);
  const end = () => {
    clearTimeout(timer);
    live.end();
  };

  const next = async (): Promise<Sent | null> => {
    if (hasBegun && live.isPaused) await live.changed(Math.min(endsAt - ports.now(), everyMs));
    for (;;) {
      await requireReader();
      if (live.isEnded) return null;
      const sent = source.next();
      const leftMs = endsAt - ports.now();
      if (hasBegun && leftMs <= 0) return sent?.isLast === true ? sent : null;
      if (sent !== undefined) return sent;
      if (live.takeDoubt()) return { chunks: [HEARTBEAT], isLast: false };
      await live.changed(Math.min(leftMs, everyMs));
    }
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const sent = await next();
    hasBegun = true;
    if (sent !== null) await ports.synced();
    if (hasLeft) return;
    for (const chunk of sent?.chunks ?? []) controller.enqueue(chunk);
    if (sent?.isLast === false) return;
    end();
    controller.close();
  };
  const body = {
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
  return new Response(new ReadableStream(body, { highWaterMark: 0 }), {
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "private, no-cache",
      ...source.headers,
    },
  });
}
