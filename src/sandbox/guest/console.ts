/** `console` within a run: its lines belong to the run, and their number and size are limited. */

import type { LogLine } from "../runners/runner.ts";
import { byteLengthOf, NativeDate, push, stringify, toISOString, utf8 } from "./intrinsics.ts";
import { type Run, stopRun } from "./run.ts";
import { cut, format } from "./text.ts";

type Level = LogLine["level"];

/** Number of lines that stops the run: lines that are not kept cost time, too. */
const MAX_LINES = 100_000;
const MAX_LINE_LENGTH = 16 * 1024;
/** The bytes of a line besides its text, for level and time: empty lines are not free. */
const LINE_BYTES = 32;

export class Log {
  readonly #run: Run;
  /** Lines as JSON. */
  readonly #lines: string[] = [];
  #count = 0;
  #bytes = 0;
  #isFull = false;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Keeps as many lines as the run's limits allow; stops a run that logs very many. The result takes the line back. */
  write(level: Level, values: readonly unknown[]): (() => void) | undefined {
    this.#count += 1;
    if (this.#count > MAX_LINES) throw stopRun(this.#run, `The workflow logged more than ${MAX_LINES} lines`);
    if (this.#isFull) return undefined;
    const message = cut(format(values), MAX_LINE_LENGTH);
    this.#bytes += LINE_BYTES + byteLengthOf(utf8(message));
    const { logBytes } = this.#run.limits;
    this.#isFull = this.#bytes > logBytes;
    if (this.#isFull) {
      this.#append("warn", `[what was logged after ${logBytes} bytes is left out]`);
      return undefined;
    }
    this.#append(level, message);
    const index = this.#lines.length - 1;
    return () => {
      this.#lines[index] = "";
    };
  }

  /** The lines as JSON, which later changes by the program do not affect. */
  get json(): string {
    let json = "";
    for (let index = 0; index < this.#lines.length; index += 1) {
      const line = this.#lines[index] ?? "";
      if (line !== "") json += json === "" ? line : `,${line}`;
    }
    return `[${json}]`;
  }

  #append(level: Level, message: string): void {
    const timestamp = toISOString(new NativeDate());
    push(this.#lines, `{"level":"${level}","message":${stringify(message)},"timestamp":"${timestamp}"}`);
  }
}

const LEVELS: Readonly<Record<string, Level>> = {
  debug: "debug",
  log: "log",
  info: "info",
  warn: "warn",
  error: "error",
  trace: "debug",
  group: "log",
  groupCollapsed: "log",
  dirxml: "log",
};
/** Methods that show their first value, and take the following ones for options. */
const SHOWING = ["dir", "table"];
const SILENT = [
  "assert",
  "clear",
  "count",
  "countReset",
  "groupEnd",
  "profile",
  "profileEnd",
  "time",
  "timeEnd",
  "timeLog",
  "timeStamp",
];

export function makeConsole(currentLog: () => Log | undefined): object {
  const methods: Record<string, (...values: unknown[]) => void> = {};
  for (const [name, level] of Object.entries(LEVELS)) {
    methods[name] = (...values) => currentLog()?.write(level, values);
  }
  for (const name of SHOWING) methods[name] = (value) => currentLog()?.write("log", [value]);
  for (const name of SILENT) methods[name] = () => {};
  return methods;
}
