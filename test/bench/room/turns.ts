/** How every part measures: subjects in turns, each time in a new room, and the medians of the runs. */
import { calm } from "../gauge.ts";
import { median } from "../load.ts";
import type { BenchOptions } from "../run.ts";
import { Line } from "./line.ts";
import type { Subject } from "./subjects.ts";

const WARM_UP_SECONDS = 1;

/** What a part found: its Markdown, and every run's figures. */
export interface Section {
  readonly markdown: string;
  readonly raw: object;
}

/** A subject's runs. */
export interface Measured<Run> {
  readonly name: string;
  readonly runs: readonly Run[];
}

/** ABAB, so that a machine that slows down or speeds up does so to all; the first run of each is not counted. */
export async function inTurns<Of extends { readonly name: string }, Run>(
  subjects: readonly Of[],
  { runs, seconds, stop }: BenchOptions,
  once: (subject: Of, seconds: number) => Promise<Run>,
): Promise<Measured<Run>[]> {
  const figures = subjects.map((): Run[] => []);
  for (const subject of subjects) await once(subject, Math.min(seconds, WARM_UP_SECONDS));
  for (let run = 0; run < runs; run += 1) {
    for (const [index, subject] of subjects.entries()) {
      stop.throwIfAborted();
      figures[index]?.push(await once(subject, seconds));
    }
  }
  return subjects.map(({ name }, index) => ({ name, runs: figures[index] ?? [] }));
}

/** Fills a new room, lets `work` use it, and leaves the server at rest. */
export async function inRoom<Run>(
  subject: Subject,
  members: number,
  stop: AbortSignal,
  work: (lines: readonly Line[]) => Promise<Run>,
): Promise<Run> {
  const lines = await Line.openAll(await subject.createRoom(members), stop);
  try {
    await calm(subject.pid, stop);
    return await work(lines);
  } finally {
    for (const line of lines) line.drop();
    await calm(subject.pid, stop);
  }
}

/** A figure's median over the runs; null where the system did not tell it. */
export function middle<Run>(runs: readonly Run[], figure: (run: Run) => number | null): number | null {
  const known = runs.map(figure).filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/** The same of a figure that is always known. */
export const medianOf = <Run>(runs: readonly Run[], figure: (run: Run) => number): number =>
  median(runs.map(figure));

/** A generator that is busier than this is what was measured. */
const GENERATOR_LIMIT = 0.9;
const GENERATOR_NOTE = "\\* The load generator had no time left: the server may do more.";

type Generated = { readonly generator: number };

const isGeneratorBound = (runs: readonly Generated[]): boolean =>
  medianOf(runs, ({ generator }) => generator) > GENERATOR_LIMIT;

/** A star where the generator was the limit. */
export const star = (runs: readonly Generated[]): string => (isGeneratorBound(runs) ? " \\*" : "");

/** What the stars mean, where there are any. */
export const starNote = (measured: readonly Measured<Generated>[]): string[] =>
  measured.some(({ runs }) => isGeneratorBound(runs)) ? [GENERATOR_NOTE] : [];
