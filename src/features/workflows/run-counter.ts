/** Counts a workflow's runs for the metrics: one call at a time, each with all runs that ended meanwhile. */
import type { RunCounts } from "../../delivery/event-log/port/hourly-counts.ts";

interface RunCounterPorts {
  countRuns(runs: RunCounts): Promise<void>;
  log(message: string, error: unknown): void;
}

export class RunCounter {
  readonly #ports: RunCounterPorts;
  #runs = 0;
  #failedRuns = 0;
  #isCounting = false;

  constructor(ports: RunCounterPorts) {
    this.#ports = ports;
  }

  /** Counts a finished run in the background. A crash may lose the latest counts. */
  count(status: "success" | "failed"): void {
    this.#runs += 1;
    if (status === "failed") this.#failedRuns += 1;
    if (!this.#isCounting) void this.#countAll();
  }

  async #countAll(): Promise<void> {
    this.#isCounting = true;
    while (this.#runs > 0) {
      const runs = { runs: this.#runs, failedRuns: this.#failedRuns };
      this.#runs = 0;
      this.#failedRuns = 0;
      await this.#ports.countRuns(runs).catch((error: unknown) => {
        this.#ports.log("Runs could not be counted", error);
      });
    }
    this.#isCounting = false;
  }
}
