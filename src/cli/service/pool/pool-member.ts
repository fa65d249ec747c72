/** One process of the pool: its owner, its limits per lease, and its end. */
import { setTimeout as pause } from "node:timers/promises";
import type { KillReason, LeaseReport, LeaseRequest } from "../../../sandbox/runners/pool-protocol.ts";
import type { ProgramProcess, Usage } from "./program-process.ts";

const MEBIBYTE = 1024 * 1024;
/** Garbage, and V8's own needs. */
const SLACK_BYTES = 64 * MEBIBYTE;

interface OpenLease {
  readonly request: LeaseRequest;
  startedAt: number;
  /** The processor time of the process by then. */
  cpuMsAtStart: number;
  /** Number of leases that overlapped this one, with itself: each may have used what the process used. */
  sharers: number;
}

/** The passed limit of a lease; null while it may go on. */
function passedLimit(
  { request: { limits }, startedAt, cpuMsAtStart, sharers }: OpenLease,
  { now, cpuMs, ownBytes }: { readonly now: number; readonly cpuMs: number; readonly ownBytes: number },
): Exclude<KillReason, "crash"> | null {
  if (ownBytes > limits.memoryMb * MEBIBYTE + SLACK_BYTES) return "memory";
  if (cpuMs - cpuMsAtStart > limits.cpuMs * sharers) return "cpu";
  return now - startedAt > limits.wallMs ? "wall" : null;
}

const MAX_IDLE_CPU_MS = 500;
/** The time for a silent process to end by itself. */
const DEATH_MS = 1_000;

export class PoolMember {
  readonly process: ProgramProcess;
  readonly #leases = new Map<string, OpenLease>();
  readonly #now: () => number;
  /** The request of the first lease, whose program it runs. */
  owner: LeaseRequest | null = null;
  #usage: Usage = { cpuMs: 0, memoryBytes: 0 };
  /** Memory before its program, in bytes; unknown until it listens. */
  #baseBytes = Number.POSITIVE_INFINITY;
  /** Null while it takes leases. */
  #ending: { readonly reason: KillReason | null } | null = null;
  #idleSince: number;
  #idleCpuMs = 0;

  constructor(process: ProgramProcess, now: () => number) {
    this.process = process;
    this.#now = now;
    this.#idleSince = now();
  }

  get isOpen(): boolean {
    return this.#ending === null;
  }

  /** Whether the leftovers of earlier runs would leave a further run too little memory. */
  get isFull(): boolean {
    return this.#ownBytes > SLACK_BYTES;
  }

  get #ownBytes(): number {
    return this.#usage.memoryBytes - this.#baseBytes;
  }

  get isAtWork(): boolean {
    return this.#leases.size > 0;
  }

  /** The time since when it takes leases without having one; null otherwise. */
  get idleSince(): number | null {
    return this.isOpen && !this.isAtWork ? this.#idleSince : null;
  }

  get leaseIds(): readonly string[] {
    return [...this.#leases.keys()];
  }

  open(id: string, request: LeaseRequest): void {
    for (const other of this.#leases.values()) other.sharers += 1;
    const sharers = this.#leases.size + 1;
    this.#leases.set(id, { request, startedAt: this.#now(), cpuMsAtStart: this.#usage.cpuMs, sharers });
    this.owner ??= request;
  }

  /** Called when the process listens, so far without a program. */
  settle(): void {
    this.#baseBytes = this.#usage.memoryBytes;
  }

  /** The process listens: starting it does not count for the lease. */
  begin(id: string): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    lease.startedAt = this.#now();
    lease.cpuMsAtStart = this.#usage.cpuMs;
  }

  measure(usage: Usage): number {
    const usedMs = usage.cpuMs - this.#usage.cpuMs;
    this.#usage = usage;
    return usedMs;
  }

  /** The used time of a lease, and the reason of a kill. */
  report(id: string): LeaseReport {
    const lease = this.#leases.get(id);
    if (lease === undefined) return { ranMs: 0, killed: "crash" };
    const ranMs = (this.#usage.cpuMs - lease.cpuMsAtStart) / lease.sharers;
    return { ranMs, killed: this.#ending?.reason ?? null };
  }

  /** Ends a lease. A process that takes no further ones ends with the last. */
  close(id: string): void {
    if (!this.#leases.delete(id) || this.isAtWork) return;
    this.#idleSince = this.#now();
    this.#idleCpuMs = this.#usage.cpuMs;
    if (!this.isOpen) this.process.kill();
  }

  /** Takes no further leases, and ends when those that it has are returned. */
  retire(): void {
    this.#ending ??= { reason: null };
    if (!this.isAtWork) this.process.kill();
  }

  kill(reason: KillReason): void {
    this.end(reason);
    this.process.kill();
  }

  /** Keeps the first reason. A process that was retired without one may get it later. */
  end(reason: KillReason): void {
    if (!this.#ending?.reason) this.#ending = { reason };
  }

  /** Kills the process when a lease has passed a limit, and retires it when its program goes on without a lease. */
  enforce(): void {
    if (this.#ending?.reason) return;
    const { cpuMs } = this.#usage;
    const keepsRunning = cpuMs - this.#idleCpuMs > MAX_IDLE_CPU_MS || this.isFull;
    if (this.owner !== null && !this.isAtWork && keepsRunning) this.retire();
    const usedByNow = { now: this.#now(), cpuMs, ownBytes: this.#ownBytes };
    for (const lease of this.#leases.values()) {
      const reason = passedLimit(lease, usedByNow);
      if (reason !== null) this.kill(reason);
    }
  }

  /** True for a process that ends by itself, as after a crash without an answer. */
  async endsSoon(): Promise<boolean> {
    if (this.#ending?.reason) return true;
    const late = pause(DEATH_MS, false, { ref: false });
    return Promise.race([this.process.ended.then(() => true), late]);
  }
}
