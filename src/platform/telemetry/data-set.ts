/** A data set of metrics as it is declared, and the columns of its figures: the order of what is written is fixed here. Pure. */

/** Durations: their number, their sum, and how many do not exceed each bound. */
interface Timing {
  readonly help: string;
  /** Milliseconds, ascending. */
  readonly boundsMs: readonly number[];
}

/** What is counted together, under labels that have few values by design: never IDs, names or anything that users wrote. */
export interface DataSet<
  Label extends string = string,
  Counter extends string = string,
  Timed extends string = string,
> {
  readonly name: string;
  readonly labels: readonly Label[];
  /** What each counter counts. */
  readonly counters: Readonly<Record<Counter, string>>;
  readonly timings: Readonly<Record<Timed, Timing>>;
}

export const dataSet = <const Label extends string, Counter extends string, Timed extends string = never>(
  set: DataSet<Label, Counter, Timed>,
): DataSet<Label, Counter, Timed> => set;

/** The figures of a data set in the order in which they are written: `double1` is the first. */
export function figuresOf({ counters, timings }: DataSet): readonly string[] {
  const timed = Object.entries(timings).flatMap(([name, { boundsMs }]) => [
    `${name}_count`,
    `${name}_ms`,
    ...boundsMs.map((bound) => `${name}_le_${bound}`),
  ]);
  return [...Object.keys(counters), ...timed];
}
