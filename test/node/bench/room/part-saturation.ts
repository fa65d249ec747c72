/** The maximum delivery rate of a full room, with messages of 100 bytes. */
import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";
import { saturate } from "./saturating-traffic.ts";
import type { Subjects } from "./subjects.ts";
import { inRoom, inTurns, medianOf, middle, type Section, star, starNote } from "./turns.ts";

const PARTICIPANTS = 50;
const IN_FLIGHT = 64;
const GOAL = 800_000;

export async function measureSaturation(subjects: Subjects, options: BenchOptions): Promise<Section> {
  const measured = await inTurns(
    [subjects.atrium, subjects.bare, ...subjects.peers],
    options,
    (subject, seconds) =>
      inRoom(subject, PARTICIPANTS, options.stop, (sockets) =>
        saturate(sockets, subject.pid, IN_FLIGHT, seconds, options.stop),
      ),
  );
  const bare = medianOf(measured[1]?.runs ?? [], (run) => run.deliveredPerS);
  const rows = measured.map(({ name, runs }, index) => {
    const delivered = medianOf(runs, (run) => run.deliveredPerS);
    const cores = middle(runs, (run) => run.cores);
    return [
      name + star(runs),
      count(delivered),
      cores === null ? "–" : `${(cores * 100).toFixed(0)} %`,
      ratio(delivered / bare),
      ...(index === 0 ? [`≥ ${count(GOAL)}`, verdict(delivered >= GOAL)] : ["", ""]),
    ];
  });
  const markdown = [
    `Messages as fast as possible, each to all others: ${PARTICIPANTS} participants take turns, ${IN_FLIGHT} in flight. ` +
      "A run ends early where Atrium's limit of frames a socket would end it.",
    table(["server", "delivered/s", "processor", "of bare", "goal", "ok"], rows),
    ...starNote(measured),
  ].join("\n\n");
  return { markdown, raw: { measured } };
}
