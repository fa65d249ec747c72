/** Live reads of a room's changes, as Server-Sent Events. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import type { ChangePlace, ChangesRead } from "../types/changes.ts";
import { HEARTBEAT, type ReadPorts, respondLive } from "./live-response.ts";

const encoder = new TextEncoder();
/** Clients connect again soon after the end of a response. */
const BEGINNING = encoder.encode(`retry: ${STREAM_LIMITS.changesRetryMs}\n\n`);

/**
 * Sends the changes after a place as they come, until a minute is over, or the room is closed or deleted. A reader that
 * lacks changes is sent a `reset` first. Rejects with a StreamRefused.
 */
export async function respondWithChanges(ports: ReadPorts, { from, writer }: ChangesRead): Promise<Response> {
  const room = ports.room();
  const live = room.streams.live.open("changes", writer?.userId);
  const isGuest = writer?.isGuest === true;
  let at: ChangePlace | null = from;
  let sentAt = Number.NEGATIVE_INFINITY;
  const next = () => {
    if (ports.room() !== room || room.commands.isDeleted) return null;
    const now = ports.now();
    const isDue = now >= sentAt + STREAM_LIMITS.heartbeatMs;
    const { bytes, next: place } = room.content.feed.events(at, isGuest);
    at = place;
    if (bytes.length === 0 && !isDue) return undefined;
    const begins = sentAt === Number.NEGATIVE_INFINITY;
    sentAt = now;
    if (bytes.length === 0) return { chunks: [begins ? BEGINNING : HEARTBEAT], isLast: false };
    return { chunks: begins ? [BEGINNING, bytes] : [bytes], isLast: false };
  };
  return respondLive(ports, { live, writer, everyMs: STREAM_LIMITS.heartbeatMs, next });
}
