/** The measurement that all parts share: subjects take turns, each run in a new room, and medians over the runs. */
import { calm } from "../gauge.ts";
import { median } from "../load.ts";
import type { BenchOptions } from "../run.ts";
import { ClientSocket } from "./client-socket.ts";
import type { Subject } from "./subjects.ts";

const WARM_UP_SECONDS = 1;

/** The result of a part: its Markdown, and the figures of every run. */
export interface Section {
  readonly markdown: string;
  readonly raw: object;
}

/** A subject's runs. */
export interface Measured<Run> {
  readonly name: string;
  readonly runs: readonly Run[];
}

/** Measures in the order ABAB, so that changes in the speed of the machine affect all. Discards each first run. */
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

/** Fills a new room, runs `work` in it, and waits until the server is idle. */
export async function inRoom<Run>(
  subject: Subject,
  participants: number,
  stop: AbortSignal,
  work: (sockets: readonly ClientSocket[]) => Promise<Run>,
): Promise<Run> {
  const sockets = await ClientSocket.openAll(await subject.createRoom(participants), stop);
  try {
    await calm(subject.pid, stop);
    return await work(sockets);
  } finally {
    for (const socket of sockets) socket.terminate();
    await calm(subject.pid, stop);
  }
}

/** A figure's median over the runs; null if unknown. */
export function middle<Run>(runs: readonly Run[], figure: (run: Run) => number | null): number | null {
  const known = runs.map(figure).filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

/** The same for a figure that is always known. */
export const medianOf = <Run>(runs: readonly Run[], figure: (run: Run) => number): number =>
  median(runs.map(figure));

/** Utilization above which the load generator is the limit. */
const GENERATOR_LIMIT = 0.9;
const GENERATOR_NOTE = "\\* The load generator had no time left: the server may do more.";

type Generated = { readonly generator: number };

const isGeneratorBound = (runs: readonly Generated[]): boolean =>
  medianOf(runs, ({ generator }) => generator) > GENERATOR_LIMIT;

/** A star if the load generator was the limit. */
export const star = (runs: readonly Generated[]): string => (isGeneratorBound(runs) ? " \\*" : "");

/** A footnote that explains the stars, if there are any. */
export const starNote = (measured: readonly Measured<Generated>[]): string[] =>
  measured.some(({ runs }) => isGeneratorBound(runs)) ? [GENERATOR_NOTE] : [];
