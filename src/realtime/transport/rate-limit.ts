/** How much a socket may say: a bucket of frames that fills with time, and floods are what empties it. */
import type { Joined } from "./connections.ts";

/** What may be sent without end. */
export const SUSTAINED_FRAMES_PER_S = 200;
/** What a burst may take on top: five seconds' worth. */
export const FULL_ALLOWANCE = 1_000;

/** The socket with one frame less to say; null when it has none left. */
export function spend(connection: Joined, now: number): Joined | null {
  const refilled = (Math.max(0, now - connection.allowanceAt) * SUSTAINED_FRAMES_PER_S) / 1000;
  const allowance = Math.min(FULL_ALLOWANCE, connection.allowance + refilled) - 1;
  return allowance < 0 ? null : { ...connection, allowance, allowanceAt: now };
}
