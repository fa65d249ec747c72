/** Failures of work that is retried: a log line for each streak of them, not for each retry. */
import { isDefect } from "@atrium/contract/errors.ts";

export class FailureStreak {
  readonly #report: (error: unknown) => void;
  #isFailing = false;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Reports the first failure of a streak, and each defect: no retry mends it. */
  failed(error: unknown): void {
    if (!this.#isFailing || isDefect(error)) this.#report(error);
    this.#isFailing = true;
  }

  ended(): void {
    this.#isFailing = false;
  }
}
