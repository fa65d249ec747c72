/** The shape of runaway programs: a source, and the known end of its run. */

/** A program and its known end. */
export interface RunawayProgram {
  readonly does: string;
  readonly source: string;
  /** The result of its run; null where a native may also refuse, or be done. */
  readonly result: RegExp | null;
}

/** The wall time may be over first on a busy machine. */
export const TIME = /^The workflow (used more than 1000 ms of processor time|took longer than 30 s)$/;
export const MEMORY = /^The workflow used more than 128 MB of memory$/;
/** Either limit: new pages of memory take processor time, on some machines more than a run has. */
export const EITHER =
  /^The workflow (used more than (1000 ms of processor time|128 MB of memory)|took longer than 30 s)$/;

export const body = (code: string): string =>
  `export default async (event, { store, room, files }) => {\n${code}\n};`;

export const shape = (does: string, code: string, result: RegExp | null = null): RunawayProgram => ({
  does,
  source: body(code),
  result,
});
