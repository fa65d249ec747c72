/** The latency from a join to its webhook, in an otherwise idle service. */
import { once } from "node:events";
import WebSocket from "ws";
import { CommandError } from "../../../../src/cli/process/command.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { table, verdict } from "../table.ts";
import { percentile } from "./burst.ts";
import type { Stage } from "./stage.ts";

const JOINS_A_RUN = 40;
/** The maximum median in milliseconds. */
const GOAL_MS = 50;

export async function measureLatency(stage: Stage, options: BenchOptions): Promise<Section> {
  const roomId = await stage.organization.createRoom("The room");
  const stopListening = await stage.listen("latency", ["participant.joined"]);
  const delaysMs: number[] = [];
  for (let join = 0; join < JOINS_A_RUN * options.runs; join += 1) {
    const token = await stage.organization.createUser(`User ${join}`, roomId);
    delaysMs.push(await timeJoin(stage, roomId, token, options.stop));
  }
  await stopListening();
  delaysMs.sort((a, b) => a - b);
  const [p50, p95] = [percentile(delaysMs, 0.5), percentile(delaysMs, 0.95)];
  const rows = [["a join", p50.toFixed(1), p95.toFixed(1), `≤ ${GOAL_MS}`, verdict(p50 <= GOAL_MS)]];
  return {
    markdown: table(
      ["from JOIN_ROOM to the webhook's arrival (ms)", "p50", "p95", "goal of p50", "ok"],
      rows,
    ),
    raw: { delaysMs },
  };
}

/** Time from sending JOIN_ROOM on an open socket to the arrival of its event. The user leaves again. */
async function timeJoin(stage: Stage, roomId: string, token: string, stop: AbortSignal): Promise<number> {
  const socket = await openSocket(stage.origin, stage.organization.accountId, roomId);
  const failed = new Promise<never>((_, reject) => socket.once("error", reject));
  const arrived = stage.expectArrivals(1, stop);
  const startedAt = performance.now();
  socket.send(JSON.stringify({ type: "JOIN_ROOM", data: { token } }));
  const [arrival] = await Promise.race([arrived, failed]);
  socket.close();
  await new Promise((resolve) => socket.once("close", resolve));
  if (arrival === undefined) throw new CommandError("No event came");
  return arrival.at - startedAt;
}

/** A socket of the room that has not joined yet. */
export async function openSocket(origin: string, accountId: string, roomId: string): Promise<WebSocket> {
  const address = `${origin.replace("http", "ws")}/v1/accounts/${accountId}/rooms/${roomId}/socket`;
  const socket = new WebSocket(address, { perMessageDeflate: false });
  await once(socket, "open"); // rejects on an error, too
  return socket;
}
