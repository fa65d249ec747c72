/** Every participant moves a cursor 20 times a second and sees all others. */
import type { BenchOptions } from "../run.ts";
import { count, table, verdict } from "../table.ts";
import { type Arrival, type Pacing, sendSteadily } from "./steady-traffic.ts";
import type { Subject, Subjects } from "./subjects.ts";
import { inRoom, inTurns, type Measured, medianOf, middle, type Section, star, starNote } from "./turns.ts";

const PER_SECOND = 20;
const CURSOR_BYTES = 40;
/** A server that delivers less than this is spared larger rooms: the backlog would outlast the run. */
const AFLOAT = 0.5;
const AGE_GOAL_MS = 45;
const SHARE_GOAL = 0.99;

export async function measureCursors(subjects: Subjects, options: BenchOptions): Promise<Section> {
  let afloat: readonly Subject[] = [subjects.atrium, subjects.bare, ...subjects.peers];
  const tables: string[] = [];
  const raw: Record<string, readonly Measured<Arrival>[]> = {};
  for (const participants of options.participants) {
    const drowned = [subjects.bare, ...subjects.peers].filter((subject) => !afloat.includes(subject));
    const measured = await measure(afloat, participants, options);
    const sunk = new Set(
      measured.filter(({ runs }) => medianOf(runs, ({ share }) => share) < AFLOAT).map(({ name }) => name),
    );
    afloat = afloat.filter(({ name }) => !sunk.has(name));
    tables.push(tableOf(participants, measured, drowned));
    raw[participants] = measured;
  }
  const markdown = [
    "Cursors, 20/s each (share: a cursor that a later one of its user overtook counts as delivered with that one; " +
      "–: delivered less than half in the room before)",
    ...tables,
    ...starNote(Object.values(raw).flat()),
  ].join("\n\n");
  return { markdown, raw };
}

function measure(subjects: readonly Subject[], participants: number, options: BenchOptions) {
  const pacing: Pacing = {
    senders: participants,
    perSecond: PER_SECOND,
    bytes: CURSOR_BYTES,
    frameOf: (protocol, text) => protocol.updatePresence(text),
    areCursors: true,
  };
  return inTurns(subjects, options, (subject, seconds) =>
    inRoom(subject, participants, options.stop, (sockets) =>
      sendSteadily(sockets, subject.pid, pacing, seconds, options.stop),
    ),
  );
}

function tableOf(
  participants: number,
  measured: readonly Measured<Arrival>[],
  drowned: readonly Subject[],
): string {
  const rows = measured.map(({ name, runs }, index) => {
    const share = medianOf(runs, (run) => run.share);
    const p95 = medianOf(runs, (run) => run.p95Ms);
    const cores = middle(runs, (run) => run.cores);
    return [
      name + star(runs),
      count(medianOf(runs, (run) => run.deliveredPerS)),
      `${(share * 100).toFixed(0)} %`,
      count(medianOf(runs, (run) => run.framesPerS)),
      (medianOf(runs, (run) => run.bytesPerS) / 1e6).toFixed(1),
      `${medianOf(runs, (run) => run.p50Ms).toFixed(0)} / ${p95.toFixed(0)}`,
      cores === null ? "–" : `${(cores * 100).toFixed(0)} %`,
      ...(index === 0
        ? [`100 %, p95 ≤ ${AGE_GOAL_MS}`, verdict(share >= SHARE_GOAL && p95 <= AGE_GOAL_MS)]
        : ["", ""]),
    ];
  });
  const missing = drowned.map(({ name }) => [name, ...Array.from({ length: 8 }, () => "–")]);
  const head = ["delivered/s", "share", "frames/s", "MB/s", "p50 / p95 age ms", "processor", "goal", "ok"];
  return table([`${participants} participants`, ...head], [...rows, ...missing]);
}
