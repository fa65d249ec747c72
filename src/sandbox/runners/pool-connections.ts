/** How a process of the pool is reached: anew for each call, or by one connection that is kept for many. */
import type { DebugPort } from "../../platform/debug-port.ts";
import { PROCESS_SERVICE } from "../pool/pool-protocol.ts";

/** What a process offers: one of its entrypoints, whose methods are called over RPC. */
export type ProcessEntrypoint = typeof PROCESS_SERVICE.run | typeof PROCESS_SERVICE.compile;

export interface PoolConnections {
  /** The entrypoint of the process at the address. */
  open(address: string, entrypoint: ProcessEntrypoint): Promise<object>;
  /** The process at the address ends, or cannot be relied on. */
  forget(address: string): void;
}

async function connect(port: DebugPort, address: string, entrypoint: ProcessEntrypoint): Promise<object> {
  const process = await port.connect(address);
  return process.getEntrypoint(PROCESS_SERVICE.name, entrypoint);
}

/** Connects for each call: for requests, as none may use what another has opened. */
export const connectEachTime = (port: DebugPort): PoolConnections => ({
  open: (address, entrypoint) => connect(port, address, entrypoint),
  forget: () => {},
});

/**
 * Keeps the latest connection, for an object: its programs run in one process, until that ends. Each run still passes
 * its own capability, which ends with it.
 */
export class KeptConnection implements PoolConnections {
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
