/** The latency from a join to the record of its run, in an otherwise idle service. */
import { percentile } from "../events/burst.ts";
import { openSocket } from "../events/part-latency.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { table, verdict } from "../table.ts";
import type { Automation } from "./automation.ts";

const JOINS_A_RUN = 40;
/** The maximum median in milliseconds. */
const GOAL_MS = 60;

export async function measureLatency(automation: Automation, options: BenchOptions): Promise<Section> {
  const { organization } = automation;
  const roomId = await organization.createRoom("The room");
  await automation.prepare(["participant.joined"]);
  const delaysMs: number[] = [];
  for (let join = 0; join < JOINS_A_RUN * options.runs; join += 1) {
    const token = await organization.createUser(`User ${join}`, roomId);
    const socket = await openSocket(automation.origin, organization.accountId, roomId);
    const startedAt = performance.now();
    socket.send(JSON.stringify({ type: "JOIN_ROOM", data: { token } }));
    delaysMs.push((await automation.recorded(join + 1, options.stop)) - startedAt);
    socket.close();
    await new Promise((resolve) => socket.once("close", resolve));
  }
  await automation.remove();
  delaysMs.sort((a, b) => a - b);
  const [p50, p95] = [percentile(delaysMs, 0.5), percentile(delaysMs, 0.95)];
  const rows = [["a join", p50.toFixed(1), p95.toFixed(1), `≤ ${GOAL_MS}`, verdict(p50 <= GOAL_MS)]];
  const head = ["from JOIN_ROOM to the execution's record (ms)", "p50", "p95", "goal of p50", "ok"];
  return { markdown: table(head, rows), raw: { delaysMs } };
}
