/** The latency of a message of 100 bytes in a room with little traffic. */

import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";
import { type Arrival, type Pacing, sendSteadily } from "./steady-traffic.ts";
import type { Subjects } from "./subjects.ts";
import { inRoom, inTurns, type Measured, medianOf, type Section } from "./turns.ts";

const PARTICIPANTS = 50;
const MESSAGE_BYTES = 100;
/** The maximum ratio to the bare object's latency. */
const GOAL = 1.15;

const ONE: Pacing = {
  senders: 1,
  perSecond: 20,
  bytes: MESSAGE_BYTES,
  frameOf: (protocol, text) => protocol.broadcast(text),
};
const ALL: Pacing = { ...ONE, senders: PARTICIPANTS, perSecond: 5 };

export async function measureLatency(subjects: Subjects, options: BenchOptions): Promise<Section> {
  const measure = (pacing: Pacing) =>
    inTurns([subjects.atrium, subjects.bare, ...subjects.peers], options, (subject, seconds) =>
      inRoom(subject, PARTICIPANTS, options.stop, (sockets) =>
        sendSteadily(sockets, subject.pid, pacing, seconds, options.stop),
      ),
    );
  const one = await measure(ONE);
  const all = await measure(ALL);
  const markdown = [
    `One way, ${MESSAGE_BYTES} bytes, ${PARTICIPANTS} participants (ms); hocuspocus passes on stateless messages`,
    tableOf("one participant speaks, 20/s", one),
    tableOf(`${count(PARTICIPANTS)} participants send, 5/s each`, all),
  ].join("\n\n");
  return { markdown, raw: { one, all } };
}

function tableOf(title: string, measured: readonly Measured<Arrival>[]): string {
  const bare = measured[1]?.runs ?? [];
  const rows = measured.map(({ name, runs }, index) => {
    const [p50, p95, p99] = [p50Of, p95Of, p99Of].map((figure) => medianOf(runs, figure));
    const ratios = [p50Of, p99Of].map((figure) => medianOf(runs, figure) / medianOf(bare, figure));
    return [
      name,
      ...[p50, p95, p99].map((ms = Number.NaN) => ms.toFixed(1)),
      ratios.map(ratio).join(" / "),
      ...(index === 0 ? [`≤ ${GOAL}`, verdict(ratios.every((share) => share <= GOAL))] : ["", ""]),
    ];
  });
  return table([title, "p50", "p95", "p99", "p50 / p99 of bare", "goal", "ok"], rows);
}

const p50Of = (run: Arrival): number => run.p50Ms;
const p95Of = (run: Arrival): number => run.p95Ms;
const p99Of = (run: Arrival): number => run.p99Ms;
