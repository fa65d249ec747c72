/** What the service and its pool of processes for programs say to each other: leases of processes, as JSON. */

/** What a lease may use of its process. */
interface ProcessLimits {
  /** From the lease to its end, in milliseconds. */
  readonly wallMs: number;
  /** Processor time of the process meanwhile, in milliseconds. */
  readonly cpuMs: number;
  /** Memory beyond that of a process without a program, in mebibytes. */
  readonly memoryMb: number;
}

/** Asks for a process. The answer waits until there is one. */
export interface LeaseRequest {
  readonly accountId: string;
  /** Identifies the code: only leases of one organization for the same code share a process. */
  readonly program: string;
  readonly limits: ProcessLimits;
}

/** A process, and how to reach it. */
export interface Lease {
  readonly id: string;
  /** Where its workerd listens. */
  readonly address: string;
  /** Proves to the process that the caller is the service. */
  readonly token: string;
}

/** Returns a lease. */
export interface LeaseEnd {
  readonly id: string;
  /** Whether the process is to end: what ran in it may have left something behind. */
  readonly isSpent: boolean;
  /** Whether it gave no answer: it has ended, or it is to be killed. */
  readonly isLost: boolean;
}

/** Why a process was killed, or that it ended by itself. */
export type KillReason = "wall" | "cpu" | "memory" | "crash";

/** What became of a lease. */
export interface LeaseReport {
  /** The processor time of the process while the lease lasted, in milliseconds. */
  readonly ranMs: number;
  /** Why its process was killed; null when it was not. */
  readonly killed: KillReason | null;
}

/** The paths of the pool's service. */
export const POOL_PATHS = { lease: "/lease", end: "/end" } as const;

/** The service and the entrypoints in a process for programs. */
export const PROCESS_SERVICE = { name: "programs", run: "Programs", compile: "Compiler" } as const;
