/** A room with a thousand participants: how fast they join, how old the cursors are that they see, how long a write takes. */

import { median } from "../load.ts";
import type { BenchOptions } from "../run.ts";
import { count, table, verdict } from "../table.ts";
import type { AtriumProtocol } from "./client-protocols.ts";
import { ClientSocket } from "./client-socket.ts";
import { CursorAges } from "./cursor-ages.ts";
import { Histogram } from "./histogram.ts";
import { markOf, readMarks } from "./mark.ts";
import { type Pacing, SteadyTraffic } from "./steady-traffic.ts";
import type { Subjects } from "./subjects.ts";
import { inTurns, type Section } from "./turns.ts";
import { limitOf, watchUsage } from "./usage.ts";

const PARTICIPANTS = 1_000;
/** Number of clients that parse their frames: with more, the load generator would be the limit. */
const OBSERVERS = 20;
const PACING: Pacing = {
  ...{ senders: PARTICIPANTS, perSecond: 5, bytes: 40 },
  frameOf: (protocol, text) => protocol.updatePresence(text),
  areCursors: true,
};
/** How long everyone has moved when the measurement begins. */
const RAMP_MS = 3_000;
const BETWEEN_WRITES_MS = 100;
const GOALS = { joinedS: 10, ageMs: 1_000, writeMs: 100, cores: 0.8 };

/** The result of one run. */
interface Crowd {
  /** Seconds from the first connection until all have joined and are subscribed to all presence. */
  readonly joinedS: number;
  /**
   * Ages of the latest state that an observer has of another participant: the median, the 99th percentile, and
   * the oldest.
   */
  readonly ages: readonly [medianMs: number, p99Ms: number, oldestMs: number];
  readonly writeP50Ms: number;
  readonly writeP95Ms: number;
  /** Processor cores that the server used; null if unknown. */
  readonly cores: number | null;
  readonly bytesPerS: number;
  readonly generator: number;
  readonly elsewhere: number;
}

export async function measureCrowd({ atrium }: Subjects, options: BenchOptions): Promise<Section> {
  const [measured] = await inTurns([atrium], options, (subject, seconds) =>
    gather(subject, seconds, options.stop),
  );
  const runs = measured?.runs ?? [];
  const of = (figure: (run: Crowd) => number) => median(runs.map(figure));
  const [joinedS, oldestMs, writeP95Ms] = [
    of((run) => run.joinedS),
    of((run) => run.ages[2]),
    of((run) => run.writeP95Ms),
  ];
  const cores = of((run) => run.cores ?? Number.NaN);
  const ages = [of((run) => run.ages[0]), of((run) => run.ages[1]), oldestMs].map(count).join(" / ");
  const rows = [
    [
      "all have joined after (s)",
      joinedS.toFixed(1),
      `≤ ${GOALS.joinedS}`,
      verdict(joinedS <= GOALS.joinedS),
    ],
    [
      "age of the cursors that one sees (ms): p50 / p99 / oldest",
      ages,
      `≤ ${GOALS.ageMs}`,
      verdict(oldestMs <= GOALS.ageMs),
    ],
    [
      "a store write is acknowledged after (ms): p50 / p95",
      `${of((run) => run.writeP50Ms).toFixed(1)} / ${writeP95Ms.toFixed(1)}`,
      `p95 ≤ ${GOALS.writeMs}`,
      verdict(writeP95Ms <= GOALS.writeMs),
    ],
    ["cores of the service", cores.toFixed(2), `≤ ${GOALS.cores}`, verdict(cores <= GOALS.cores)],
    ["sent by the service, MB/s", (of((run) => run.bytesPerS) / 1e6).toFixed(0), "", ""],
    ["the load generator's thread was busy", `${(of((run) => run.generator) * 100).toFixed(0)} %`, "", ""],
    ["cores that other processes used", of((run) => run.elsewhere).toFixed(2), "", ""],
  ];
  const limits = runs.map(limitOf).filter((limit) => limit !== null);
  const markdown = [
    `${count(PARTICIPANTS)} participants of one room, each moving a cursor 5 times a second; one more writes to a store`,
    table(["", "Atrium", "goal", "ok"], rows),
    ...(limits.length === 0
      ? []
      : [`In ${limits.length} of ${runs.length} runs ${limits[0]}: these figures are not the service's.`]),
  ].join("\n\n");
  return { markdown, raw: { runs } };
}

async function gather(atrium: Subjects["atrium"], seconds: number, stop: AbortSignal): Promise<Crowd> {
  const protocols = await atrium.createRoom(PARTICIPANTS + 1);
  const startedAt = performance.now();
  const sockets = await ClientSocket.openAll(protocols, stop);
  const joinedS = (performance.now() - startedAt) / 1000;
  try {
    const [writer, ...crowd] = sockets;
    const [protocol] = protocols;
    if (writer === undefined || protocol === undefined) throw new Error("Expected a writer");
    return { joinedS, ...(await observe(atrium.pid, crowd, { socket: writer, protocol }, seconds, stop)) };
  } finally {
    for (const socket of sockets) socket.terminate();
  }
}

interface Writer {
  readonly socket: ClientSocket;
  readonly protocol: AtriumProtocol;
}

async function observe(
  pid: number,
  crowd: readonly ClientSocket[],
  writer: Writer,
  seconds: number,
  stop: AbortSignal,
): Promise<Omit<Crowd, "joinedS">> {
  const ages = new CursorAges(OBSERVERS, crowd.length);
  for (const [observer, socket] of crowd.slice(0, OBSERVERS).entries())
    socket.listen((frame) => readMarks(frame, (sender, _, sentAtMs) => ages.see(observer, sender, sentAtMs)));
  const traffic = new SteadyTraffic(crowd, PACING);
  await traffic.runUntil(performance.now() + RAMP_MS, stop);
  for (const socket of crowd) socket.resetCounts();
  const usage = watchUsage(pid);
  const endMs = performance.now() + seconds * 1000;
  const [writes] = await Promise.all([
    write(writer, endMs),
    traffic.runUntil(endMs, stop),
    ages.watchUntil(endMs),
  ]);
  const { cores, elapsedS, generator, elsewhere } = usage();
  for (const socket of crowd) socket.mustBeOpen();
  return {
    ages: [ages.ages.quantile(0.5), ages.ages.quantile(0.99), ages.ages.quantile(1)],
    writeP50Ms: writes.quantile(0.5),
    writeP95Ms: writes.quantile(0.95),
    cores,
    bytesPerS: crowd.reduce((sum, { bytes }) => sum + bytes, 0) / elapsedS,
    ...{ generator, elsewhere },
  };
}

/** Writes one entry after the other; how long each took to be acknowledged. */
async function write({ socket, protocol }: Writer, endMs: number): Promise<Histogram> {
  const took = new Histogram();
  for (let number = 1; performance.now() < endMs; number += 1) {
    const startedAt = performance.now();
    const mark = markOf(PARTICIPANTS, number, startedAt);
    await socket.ask(protocol.write("key", "value", mark), (frame) => frame.includes(mark));
    took.add(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_WRITES_MS));
  }
  return took;
}
