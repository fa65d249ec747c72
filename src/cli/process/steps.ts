/** The steps of a long command, which is never silent for long. */
import type { WriteStream } from "node:tty";
import { CommandError } from "./command.ts";
import { isTransientReason, type Retry, retrying } from "./retry.ts";

/** Time between two signs of life, in milliseconds: in a terminal, and in a log. */
const TERMINAL_MS = 1_000;
const LOG_MS = 5_000;

const ERASE_LINE = "\r\x1b[2K";

type Output = Pick<WriteStream, "write"> & Partial<Pick<WriteStream, "isTTY" | "columns">>;

export class Steps {
  readonly #output: Output;
  #latest = "";
  /** Runs a task again after a transient error, with a line for each. */
  readonly retry: Retry;

  constructor(stop: AbortSignal, output: Output = process.stdout) {
    this.#output = output;
    this.retry = retrying(this.print, stop);
  }

  /** Prints a line that stays. */
  readonly print = (line: string): void => {
    this.#output.write(`${this.#output.isTTY ? ERASE_LINE : ""}  ${line}\n`);
  };

  /** Notes what the step does at the moment, as wrangler says it. */
  readonly note = (line: string): void => {
    this.#latest = line;
  };

  /** Prints the title, runs the task, and meanwhile shows its time and its latest note. */
  async show<T>(title: string, task: () => Promise<T>): Promise<T> {
    const began = performance.now();
    this.#latest = "";
    this.#output.write(`${title} …\n`);
    const timer = setInterval(
      () => this.#showProgress(Math.round((performance.now() - began) / 1000)),
      this.#output.isTTY ? TERMINAL_MS : LOG_MS,
    );
    try {
      return await task();
    } finally {
      clearInterval(timer);
      if (this.#output.isTTY) this.#output.write(ERASE_LINE);
    }
  }

  /** Shows a step, and repeats it after transient errors: it does only what is missing. */
  run<T>(title: string, step: () => Promise<T>): Promise<T> {
    return this.show(title, () =>
      this.retry(step, (error) => error instanceof CommandError && isTransientReason(error.message)),
    );
  }

  #showProgress(seconds: number): void {
    const line = `  ${seconds} s${this.#latest === "" ? "" : `: ${this.#latest}`}`;
    const { isTTY, columns = 80 } = this.#output;
    this.#output.write(isTTY ? `${ERASE_LINE}${line.slice(0, columns - 1)}` : `${line}\n`);
  }
}
