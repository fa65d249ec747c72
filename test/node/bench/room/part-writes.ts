/** Acknowledged store writes per second, beside an object that only echoes. */
import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";
import type { ClientProtocol } from "./client-socket.ts";
import type { Acknowledgement, Subjects, WritableSubject } from "./subjects.ts";
import { inRoom, inTurns, type Measured, medianOf, middle, type Section } from "./turns.ts";
import { countWrites, type Writes } from "./writes.ts";

const WATCHERS = 50;
/** A user who has sent two bursts has to wait for some time before the next one. */
const WRITERS = 32;
/** The minimum share of the bare object's echo rate. */
const GOAL = 0.5;

export async function measureWrites({ atrium, bare }: Subjects, options: BenchOptions): Promise<Section> {
  const counting = <Client extends ClientProtocol>(
    subject: WritableSubject<Client>,
    how: Acknowledgement,
    name: string,
    watchers = 0,
  ) => ({ name, count: (seconds: number) => countIn(subject, how, watchers, seconds, options) });
  const measured = await inTurns(
    [
      counting(atrium, "stored", "**Atrium**, alone"),
      counting(bare, "echoed", "bare Durable Object that only sends back"),
      counting(bare, "stored", "bare Durable Object that stores in SQLite"),
      counting(atrium, "stored", `**Atrium**, ${WATCHERS} watchers`, WATCHERS),
      counting(bare, "broadcast", `bare Durable Object that stores nothing, ${WATCHERS} watchers`, WATCHERS),
    ],
    options,
    (subject, seconds) => subject.count(seconds),
  );
  const echoes = writesOf(measured[1]);
  const stored = writesOf(measured[2]);
  const rows = measured.map((subject, index) => {
    const writes = writesOf(subject);
    const goal = index === 0 ? [`≥ ${GOAL} of echoes`, verdict(writes / echoes >= GOAL)] : ["", ""];
    const processorUs = middle(subject.runs, (run) => run.processorUs);
    const processor = processorUs === null ? "unknown" : `${processorUs.toFixed(0)} µs`;
    return [subject.name, count(writes), processor, ratio(writes / echoes), ratio(writes / stored), ...goal];
  });
  const markdown = [
    "Writes of 100 bytes to a store, acknowledged: from one socket with 64 in flight, in bursts as long as the " +
      "limit of frames allows. Each write that is stored waits for the disk.",
    table(
      ["server", "writes/s", "processor for each", "of bare echoes", "of bare writes", "goal", "ok"],
      rows,
    ),
    "partyserver and socket.io have no store; hocuspocus merges documents in memory, and says so when it has.",
  ].join("\n\n");
  return { markdown, raw: { measured } };
}

const writesOf = (measured: Measured<Writes> | undefined): number =>
  medianOf(measured?.runs ?? [], ({ perSecond }) => perSecond);

async function countIn<Client extends ClientProtocol>(
  subject: WritableSubject<Client>,
  how: Acknowledgement,
  watchers: number,
  seconds: number,
  { stop }: BenchOptions,
): Promise<Writes> {
  const all = await subject.createRoom(watchers + WRITERS);
  const writers = all.slice(0, WRITERS).map((protocol) => subject.writerOf(protocol, how));
  return inRoom({ ...subject, createRoom: async () => all.slice(WRITERS) }, watchers, stop, () =>
    countWrites(subject.pid, writers, seconds, stop),
  );
}
