/** The service's side of the pool: leases a process, calls it, and returns it, however the call ends. */
import type { DebugPort } from "../../platform/debug-port.ts";
import {
  type Lease,
  type LeaseEnd,
  type LeaseReport,
  type LeaseRequest,
  POOL_PATHS,
  PROCESS_SERVICE,
} from "../pool/pool-protocol.ts";

/** The bindings that `npm start` gives the service for its pool. */
export interface PoolBindings {
  readonly PROGRAM_POOL?: Fetcher;
  readonly PROGRAM_PORT?: DebugPort;
}

/** How a call of a process ended. */
export interface CallEnd<T> {
  readonly value: T;
  /** Whether the process is to end. */
  readonly isSpent: boolean;
  /** Whether it gave no answer. */
  readonly isLost: boolean;
}

/** Whether a call failed because the process has ended. */
export const isDisconnected = (error: unknown): boolean =>
  error instanceof Error && /connection lost|disconnected/i.test(error.message);

export class PoolClient {
  readonly #pool: Fetcher;
  readonly #port: DebugPort;

  constructor(pool: Fetcher, port: DebugPort) {
    this.#pool = pool;
    this.#port = port;
  }

  /**
   * Calls the entrypoint of a leased process with the process's token. Rejects, before anything of the program has
   * run, when there is no process.
   */
  async use<T>(
    request: LeaseRequest,
    entrypoint: typeof PROCESS_SERVICE.run | typeof PROCESS_SERVICE.compile,
    call: (entrypoint: object, token: string) => Promise<CallEnd<T>>,
  ): Promise<{ readonly value: T; readonly report: LeaseReport }> {
    const lease = await this.#ask<Lease>(POOL_PATHS.lease, request);
    let end: CallEnd<T> | null = null;
    try {
      const process = await this.#port.connect(lease.address);
      end = await call(await process.getEntrypoint(PROCESS_SERVICE.name, entrypoint), lease.token);
    } finally {
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
