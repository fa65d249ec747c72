/** A lease in progress, and the limit that it has passed. */
import type { KillReason, LeaseRequest } from "../../../sandbox/pool/pool-protocol.ts";

const MEBIBYTE = 1024 * 1024;
/** How much more than its program may use a process may occupy: for garbage, and for what V8 itself needs. */
export const SLACK_BYTES = 64 * MEBIBYTE;

export interface OpenLease {
  readonly request: LeaseRequest;
  startedAt: number;
  /** The processor time of the process by then. */
  cpuMsAtStart: number;
  /** This lease and those that overlapped it: each of them may have used what the process used. */
  sharers: number;
}

/** What a process has used by now: processor time, and memory beyond what it has without a program. */
export interface UsedByNow {
  readonly now: number;
  readonly cpuMs: number;
  readonly ownBytes: number;
}

/** Why the lease has to end; null while it may go on. */
export function passedLimit(
  { request: { limits }, startedAt, cpuMsAtStart, sharers }: OpenLease,
  { now, cpuMs, ownBytes }: UsedByNow,
): Exclude<KillReason, "crash"> | null {
  if (ownBytes > limits.memoryMb * MEBIBYTE + SLACK_BYTES) return "memory";
  if (cpuMs - cpuMsAtStart > limits.cpuMs * sharers) return "cpu";
  return now - startedAt > limits.wallMs ? "wall" : null;
}
