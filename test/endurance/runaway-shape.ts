/** What all runaway programs are made of: a source, and what is known of how its run ends. */

/** A program and what is known of how it ends. */
export interface RunawayProgram {
  readonly does: string;
  readonly source: string;
  /** The result of its run; null where a native may also refuse, or be done. */
  readonly result: RegExp | null;
}

/** On a machine that has other things to do, the wall time may be over first. */
export const TIME = /^The workflow (used more than 1000 ms of processor time|took longer than 30 s)$/;
export const MEMORY = /^The workflow used more than 128 MB of memory$/;
/** Whichever of them is met first. */
export const EITHER =
  /^The workflow (used more than (1000 ms of processor time|128 MB of memory)|took longer than 30 s)$/;

export const body = (code: string): string =>
  `export default async (event, { store, room, files }) => {\n${code}\n};`;

export const shape = (does: string, code: string, result: RegExp | null = null): RunawayProgram => ({
  does,
  source: body(code),
  result,
});
