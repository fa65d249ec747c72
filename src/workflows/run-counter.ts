/** Counts a workflow's runs for the metrics: one write at a time, each with all runs that ended meanwhile. */
import { incrementHourlyCounts } from "../metrics/counters/hourly-count-store.ts";
import type { Tenant } from "../platform/d1.ts";

export class RunCounter {
  readonly #tenant: Tenant;
  readonly #now: () => number;
  readonly #log: (message: string, error: unknown) => void;
  #runs = 0;
  #failedRuns = 0;
  #isWriting = false;

  constructor(tenant: Tenant, now: () => number, log: (message: string, error: unknown) => void) {
    this.#tenant = tenant;
    this.#now = now;
    this.#log = log;
  }

  /** Counts a finished run in the background. A crash may lose the latest counts. */
  count(status: "success" | "failed"): void {
    this.#runs += 1;
    if (status === "failed") this.#failedRuns += 1;
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#runs > 0) {
      const counts = { runs: this.#runs, failedRuns: this.#failedRuns };
      this.#runs = 0;
      this.#failedRuns = 0;
      await this.#tenant.db
        .run([incrementHourlyCounts(this.#tenant, this.#now(), counts)])
        .catch((error: unknown) => {
          this.#log("Runs could not be counted", error);
        });
    }
    this.#isWriting = false;
  }
}
