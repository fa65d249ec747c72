/** How many writes to a store are acknowledged, beside an object that only echoes. */
import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";
import type { Voice } from "./line.ts";
import type { Subjects, WritableSubject } from "./subjects.ts";
import { inRoom, inTurns, type Measured, medianOf, type Section } from "./turns.ts";
import { countWrites } from "./writes.ts";

const WATCHERS = 50;
/** Of the bare object's echoes, at least. */
const GOAL = 0.5;

export async function measureWrites({ atrium, bare }: Subjects, options: BenchOptions): Promise<Section> {
  const measure = (watchers: number) =>
    inTurns(
      [forWrites(atrium, watchers, options), forWrites(bare, watchers, options)],
      options,
      (subject, seconds) => subject.count(seconds),
    );
  const alone = await measure(0);
  const watched = await measure(WATCHERS);
  const rows = [
    ...rowsOf("alone", alone, GOAL),
    ...rowsOf(`${WATCHERS} watch, and get each write`, watched, null),
  ];
  const markdown = [
    "Writes of 100 bytes to a store, from one socket with 64 in flight, in bursts as long as the limit of frames " +
      "allows. The bare object stores nothing: it sends each message back, and to the watchers.",
    table(["server", "writes/s", "of bare", "goal", "ok"], rows),
    "partyserver and socket.io have no store; hocuspocus merges documents in memory, and says so when it has.",
  ].join("\n\n");
  return { markdown, raw: { alone, watched } };
}

interface Counting {
  readonly name: string;
  count(seconds: number): Promise<number>;
}

const forWrites = <Member extends Voice>(
  subject: WritableSubject<Member>,
  watchers: number,
  { stop }: BenchOptions,
): Counting => ({
  name: subject.name,
  count: async (seconds) => {
    const [writer, ...others] = await subject.createRoom(watchers + 1);
    if (writer === undefined) throw new Error("A room has a writer");
    return inRoom({ ...subject, createRoom: async () => others }, watchers, stop, () =>
      countWrites(subject.writerOf(writer, watchers > 0), seconds, stop),
    );
  },
});

function rowsOf(how: string, [ours, floor]: readonly Measured<number>[], goal: number | null): string[][] {
  const echoes = medianOf(floor?.runs ?? [], (run) => run);
  return [ours, floor].flatMap((measured, index) => {
    if (measured === undefined) return [];
    const writes = medianOf(measured.runs, (run) => run);
    const share = writes / echoes;
    const isJudged = index === 0 && goal !== null;
    return [
      [
        `${measured.name}, ${how}`,
        count(writes),
        ratio(share),
        ...(isJudged ? [`≥ ${goal}`, verdict(share >= goal)] : ["", ""]),
      ],
    ];
  });
}
