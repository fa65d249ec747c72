/** `console` inside a run: its lines belong to the run, and there is an end of them. */
import type { LogLine } from "../schema.ts";
import { byteLengthOf, join, NativeDate, push, toISOString, utf8 } from "./intrinsics.ts";
import { cut, show } from "./text.ts";

type Level = LogLine["level"];

/** Of one line. */
const MAX_LINE_LENGTH = 16 * 1024;
/** What a line costs beside its text, for its level and its time: empty ones are not free. */
const LINE_BYTES = 32;

export class Log {
  readonly lines: LogLine[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  #isFull = false;

  /** Keeps lines of at most `maxBytes` together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  write(level: Level, values: readonly unknown[]): void {
    if (this.#isFull) return;
    const parts: string[] = [];
    for (let index = 0; index < values.length; index += 1) push(parts, show(values[index]));
    const message = cut(join(parts, " "), MAX_LINE_LENGTH);
    this.#bytes += LINE_BYTES + byteLengthOf(utf8(message));
    this.#isFull = this.#bytes > this.#maxBytes;
    if (this.#isFull) this.#append("warn", `[what was logged after ${this.#maxBytes} bytes is left out]`);
    else this.#append(level, message);
  }

  #append(level: Level, message: string): void {
    push(this.lines, { level, message, timestamp: toISOString(new NativeDate()) });
  }
}

const LEVELS: Readonly<Record<string, Level>> = {
  debug: "debug",
  log: "log",
  info: "info",
  warn: "warn",
  error: "error",
  trace: "debug",
  dir: "log",
  table: "log",
  group: "log",
};
const SILENT = ["assert", "clear", "count", "countReset", "groupEnd", "time", "timeEnd", "timeLog"];

/** The console whose lines go to whatever log is current. */
export function makeConsole(currentLog: () => Log | undefined): object {
  const methods: Record<string, (...values: unknown[]) => void> = {};
  for (const [name, level] of Object.entries(LEVELS)) {
    methods[name] = (...values) => currentLog()?.write(level, values);
  }
  for (const name of SILENT) methods[name] = () => {};
  return methods;
}
