/** All data sets of the service's metrics. docs/guides/monitoring.md explains each metric, and tests compare them. */

/** Durations: their number, their sum, and how many do not exceed each bound. */
interface Timing {
  readonly help: string;
  /** Milliseconds, ascending. */
  readonly boundsMs: readonly number[];
}

/** Labels have few values by design: never IDs, names or text of users. */
export interface DataSet<
  Label extends string = string,
  Counter extends string = string,
  Timed extends string = string,
> {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly counters: Readonly<Record<Counter, string>>;
  readonly timings: Readonly<Record<Timed, Timing>>;
}

const dataSet = <const Label extends string, Counter extends string, Timed extends string = never>(
  set: DataSet<Label, Counter, Timed>,
): DataSet<Label, Counter, Timed> => set;

export function metricsOf({ counters, timings }: DataSet): readonly string[] {
  const timed = Object.entries(timings).flatMap(([name, { boundsMs }]) => [
    `${name}_count`,
    `${name}_ms`,
    ...boundsMs.map((bound) => `${name}_le_${bound}`),
  ]);
  return [...Object.keys(counters), ...timed];
}

export const DATA_SETS = {
  /** REST requests, by the endpoint's method and path with the names of its parameters. */
  requests: dataSet({
    name: "requests",
    labels: ["route", "status"],
    counters: { database_trips: "Round trips to D1 that requests waited for" },
    timings: {
      duration: {
        help: "Time until the response began",
        boundsMs: [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000],
      },
    },
  }),

  rooms: dataSet({
    name: "rooms",
    labels: [],
    counters: {
      connections_opened: "WebSockets that were opened",
      connections_closed: "WebSockets that were closed, or broke",
      joins: "WebSockets that joined",
      joins_refused: "Joins that were refused",
      frames_received: "Frames from clients",
      bytes_received: "Their size, where text counts in characters",
      frames_sent: "Frames to clients",
      bytes_sent: "Their size, where text counts in characters",
      alarms: "Alarms of rooms",
      occupied_seconds: "Seconds in which rooms had connections: by time, the number of such rooms",
      connection_seconds: "Seconds of all connections: by time, their number",
      storage_byte_seconds:
        "Bytes that occupied rooms store, times these seconds: by those, their average size",
    },
    timings: {},
  }),

  deliveries: dataSet({
    name: "deliveries",
    labels: ["outcome", "error_class"],
    counters: {
      events: "Events that the attempts delivered or tried to: more than one where they are sent in batches",
    },
    timings: {
      duration: { help: "Duration of attempts", boundsMs: [50, 100, 250, 1_000, 5_000, 10_000] },
      wait: {
        help: "Time from an event to its first attempt",
        boundsMs: [100, 500, 1_000, 5_000, 30_000, 300_000],
      },
    },
  }),

  runs: dataSet({
    name: "runs",
    labels: ["outcome"],
    counters: {
      processor_ms: "Processor time in milliseconds, where the runner measures it",
      killed: "Runs that had to be ended by force",
    },
    timings: {
      duration: { help: "Wall time of runs", boundsMs: [10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000] },
      wait: {
        help: "Time from an event to its first run",
        boundsMs: [100, 500, 1_000, 5_000, 30_000, 300_000],
      },
    },
  }),

  /** Errors of requests and of the service itself, whose reasons are in the log. */
  errors: dataSet({
    name: "errors",
    labels: ["source", "module", "code"],
    counters: { errors: "Errors" },
    timings: {},
  }),
};
