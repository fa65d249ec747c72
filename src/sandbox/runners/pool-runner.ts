/** Runs programs in processes of their own, which the pool of `npm start` keeps, and bounds from outside. */

import { type Guest, invoke, limitMessage } from "./invocation.ts";
import type { PoolClient } from "./pool-client.ts";
import { PROCESS_SERVICE } from "./pool-protocol.ts";
import type { HostBindings, RunInput, RunLimits, Runner, RunReport, Script } from "./runner.ts";

interface Programs {
  run(
    token: string,
    module: string,
    input: RunInput,
    bindings: HostBindings,
    limits: RunLimits,
  ): Promise<unknown>;
}

/** How much longer than a run its lease may last, before the pool concludes that the service has forgotten it. */
const LEASE_GRACE_MS = 10_000;

export class PoolRunner implements Runner {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async deploy(): Promise<void> {}

  async remove(): Promise<void> {}

  [Symbol.dispose](): void {}

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
