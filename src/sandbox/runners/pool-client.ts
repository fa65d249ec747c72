/** The service's side of the pool: leases a process, connects to it, calls it, and returns it. */
import type { DebugPort } from "../../env.ts";
import { type Guest, invoke, limitMessage } from "./invocation.ts";
import {
  type Lease,
  type LeaseEnd,
  type LeaseReport,
  type LeaseRequest,
  POOL_PATHS,
  PROCESS_SERVICE,
} from "./pool-protocol.ts";
import type { Programs } from "./program-worker.ts";
import type { HostBindings, RunInput, RunLimits, Runner, RunReport, Script } from "./runner.ts";

interface CallEnd<T> {
  readonly value: T;
  readonly isSpent: boolean;
  readonly isLost: boolean;
}

/** Whether a call failed because the process has ended. */
export const isDisconnected = (error: unknown): boolean =>
  error instanceof Error && /connection lost|disconnected/i.test(error.message);

export class PoolClient {
  readonly #pool: Fetcher;
  readonly #connections: PoolConnections;

  constructor(pool: Fetcher, connections: PoolConnections) {
    this.#pool = pool;
    this.#connections = connections;
  }

  /**
   * Calls the entrypoint of a leased process with the process's token. Rejects, before anything of the program has
   * run, when there is no process.
   */
  async use<T>(
    request: LeaseRequest,
    entrypoint: ProcessEntrypoint,
    call: (entrypoint: object, token: string) => Promise<CallEnd<T>>,
  ): Promise<{ readonly value: T; readonly report: LeaseReport }> {
    const lease = await this.#ask<Lease>(POOL_PATHS.lease, request);
    let end: CallEnd<T> | null = null;
    try {
      end = await call(await this.#connections.open(lease.address, entrypoint), lease.token);
    } finally {
      if (end === null || end.isSpent || end.isLost) this.#connections.forget(lease.address);
      if (end === null) await this.#end({ id: lease.id, isSpent: true, isLost: true });
    }
    const { value, isSpent, isLost } = end;
    return { value, report: await this.#end({ id: lease.id, isSpent, isLost }) };
  }

  #end(end: LeaseEnd): Promise<LeaseReport> {
    return this.#ask<LeaseReport>(POOL_PATHS.end, end);
  }

  async #ask<Answer>(path: string, body: LeaseRequest | LeaseEnd): Promise<Answer> {
    const response = await this.#pool.fetch(`http://pool${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The pool of programs refused ${path}: ${await response.text()}`);
    return response.json<Answer>();
  }
}

type ProcessEntrypoint = typeof PROCESS_SERVICE.run | typeof PROCESS_SERVICE.compile;

export interface PoolConnections {
  open(address: string, entrypoint: ProcessEntrypoint): Promise<object>;
  /** The process at the address ends, or cannot be relied on. */
  forget(address: string): void;
}

async function connect(port: DebugPort, address: string, entrypoint: ProcessEntrypoint): Promise<object> {
  const process = await port.connect(address);
  return process.getEntrypoint(PROCESS_SERVICE.name, entrypoint);
}

/** Connects for each call. Requests need this, as none may use a connection that another has opened. */
export const connectEachTime = (port: DebugPort): PoolConnections => ({
  open: (address, entrypoint) => connect(port, address, entrypoint),
  forget: () => {},
});

/**
 * Keeps the latest connection, for an object, whose programs run in one process until it ends. Each run still
 * passes its own capability, which ends with it.
 */
export class ReusedConnection implements PoolConnections {
  readonly #port: DebugPort;
  #kept: { readonly key: string; readonly address: string; readonly opened: Promise<object> } | null = null;

  constructor(port: DebugPort) {
    this.#port = port;
  }

  open(address: string, entrypoint: ProcessEntrypoint): Promise<object> {
    const key = `${entrypoint} ${address}`;
    if (this.#kept?.key !== key) {
      this.#kept = { key, address, opened: connect(this.#port, address, entrypoint) };
    }
    return this.#kept.opened;
  }

  forget(address: string): void {
    if (this.#kept?.address === address) this.#kept = null;
  }
}

/** The time beyond a run after which the pool concludes that the service has forgotten the lease. */
const LEASE_GRACE_MS = 10_000;

/** Runs programs in processes of their own, which the pool of `npm start` keeps, and bounds from outside. */
export class PoolRunner implements Runner {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async run(script: Script, input: RunInput, bindings: HostBindings, limits: RunLimits): Promise<RunReport> {
    const { accountId, workflowId, module, hash } = script;
    const { wallMs, processCpuMs, memoryMb } = limits;
    const lease = {
      accountId,
      program: `${accountId}/${workflowId}/${hash}`,
      limits: { wallMs: wallMs + LEASE_GRACE_MS, cpuMs: processCpuMs, memoryMb },
    };
    const { value, report } = await this.#client.use(
      lease,
      PROCESS_SERVICE.run,
      async (entrypoint, token) => {
        const programs = entrypoint as Programs;
        const guest: Guest = {
          run: (input, bindings, limits) => programs.run(token, module, input, bindings, limits),
        };
        const { report, isSpent, isLost } = await invoke(guest, { input, bindings, limits }, () => false);
        return { value: report, isSpent, isLost };
      },
    );
    const { ranMs, killed } = report;
    // A run that ended before its process was killed for another one keeps its own outcome.
    if (killed === null || !value.isKilled) return { ...value, isKilled: false, ranMs };
    return { ...value, status: "failed", result: limitMessage(killed, limits), ranMs };
  }
}
