/** The protocol between the service and its pool of processes: leases, as JSON. */
interface ProcessLimits {
  readonly wallMs: number;
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

export interface Lease {
  readonly id: string;
  readonly address: string;
  /** Proves to the process that the caller is the service. */
  readonly token: string;
}

export interface LeaseEnd {
  readonly id: string;
  /** Whether the process is to end, because programs may have left something behind. */
  readonly isSpent: boolean;
  /** Whether it gave no answer: it has ended, or it is to be killed. */
  readonly isLost: boolean;
}

export type KillReason = "wall" | "cpu" | "memory" | "crash";

export interface LeaseReport {
  readonly ranMs: number;
  readonly killed: KillReason | null;
}

export const POOL_PATHS = { lease: "/lease", end: "/end" } as const;

/** The service and the entrypoints in a process for programs. */
export const PROCESS_SERVICE = { name: "programs", run: "Programs", compile: "Compiler" } as const;
