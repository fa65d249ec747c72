/** How much a socket may say: a bucket of frames that fills with time, and floods are what empties it. */
import type { Joined } from "./connections.ts";

/** What may be sent without end. */
export const SUSTAINED_FRAMES_PER_S = 200;
/** What a burst may take on top: five seconds' worth. */
export const FULL_BUCKET = 1_000;

/** The socket with one frame less to say; null when it has none left. */
export function takeToken(connection: Joined, now: number): Joined | null {
  const refilled = (Math.max(0, now - connection.frameTokensAt) * SUSTAINED_FRAMES_PER_S) / 1000;
  const frameTokens = Math.min(FULL_BUCKET, connection.frameTokens + refilled) - 1;
  return frameTokens < 0 ? null : { ...connection, frameTokens, frameTokensAt: now };
}
