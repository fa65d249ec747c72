/** One subscriber's object by itself: its speed next to a bare object, and the cost of a wake with a backlog. */
import { processorSeconds, residentBytes } from "../gauge.ts";
import { median } from "../load.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";
import type { Filling } from "../workers/deliveries.ts";
import { percentile } from "./burst.ts";
import type { Stage } from "./stage.ts";

/** Response time of the receiver. */
const LATENCY_MS = 20;
const SCENES = [
  { name: "1 room, in order", rooms: 1, events: 100, goal: 0.8 },
  { name: "100 rooms", rooms: 100, events: 3_000, goal: 0.5 },
] as const;
const BACKLOG = 100_000;
const WAKES = 20;
const WAKE_GOAL_MS = 100;
const WAKE_GOAL_MB = 20;

interface Speed {
  readonly perSecond: number;
  /** Processor time of workerd per event. */
  readonly processorMs: number;
}

type Call = "fill" | "floor" | "restart" | "list" | "remove";

export async function measureQueue(stage: Stage, options: BenchOptions): Promise<Section> {
  const call = async (path: Call, filling: Filling): Promise<string> => {
    const response = await fetch(`${stage.queues.origin}/${path}`, {
      method: "POST",
      body: JSON.stringify(filling),
      signal: options.stop,
    });
    return response.text();
  };
  const speeds: { name: string; goal: number; atrium: Speed[]; floor: Speed[] }[] = [];
  for (const { name, rooms, events, goal } of SCENES) {
    const webhook = await stage.listenAt(`late-${LATENCY_MS}-${rooms}`, ["user.created"]);
    const filling = { key: webhook.key, url: webhook.url, rooms, from: 0 };
    const measure = async (path: "fill" | "floor"): Promise<Speed> => {
      const usedBefore = processorSeconds(stage.queues.pid) ?? Number.NaN;
      const arrived = stage.expectArrivals(events, options.stop);
      await call(path, { ...filling, events });
      const times = (await arrived).map(({ at }) => at);
      const used = (processorSeconds(stage.queues.pid) ?? Number.NaN) - usedBefore;
      return {
        perSecond: ((events - 1) * 1000) / (Math.max(...times) - Math.min(...times)),
        processorMs: (used * 1000) / events,
      };
    };
    await measure("fill"); // the receiver proves itself, and is found to be quick
    await measure("floor");
    const speed = { name, goal, atrium: [] as Speed[], floor: [] as Speed[] };
    for (let run = 0; run < options.runs; run += 1) {
      speed.floor.push(await measure("floor"));
      speed.atrium.push(await measure("fill"));
    }
    speeds.push(speed);
    await call("remove", { ...filling, events });
    await webhook.end();
  }
  const wakes = await measureWakes(stage, call);
  const rows = speeds.map(({ name, goal, atrium, floor }) => {
    const medianOf = (speeds: readonly Speed[], field: keyof Speed) =>
      median(speeds.map((speed) => speed[field]));
    const share = medianOf(atrium, "perSecond") / medianOf(floor, "perSecond");
    return [
      name,
      count(medianOf(atrium, "perSecond")),
      count(medianOf(floor, "perSecond")),
      ratio(share),
      `≥ ${goal}`,
      verdict(share >= goal),
      medianOf(atrium, "processorMs").toFixed(2),
      medianOf(floor, "processorMs").toFixed(2),
    ];
  });
  const head = [
    `events/s to a receiver that answers after ${LATENCY_MS} ms`,
    "Atrium",
    "bare object",
    "ratio",
    "goal",
    "ok",
    "processor ms an event",
    "bare object",
  ];
  const wakeRows = [
    ["time, p95 (ms)", wakes.ms.toFixed(0), `< ${WAKE_GOAL_MS}`, verdict(wakes.ms < WAKE_GOAL_MS)],
    [
      `growth over ${WAKES} wakes (MB)`,
      wakes.megabytes.toFixed(1),
      `< ${WAKE_GOAL_MB}`,
      verdict(wakes.megabytes < WAKE_GOAL_MB),
    ],
  ];
  const wakeHead = [`a wake with ${count(wakes.waiting)} events waiting`, "measured", "goal", "ok"];
  return { markdown: `${table(head, rows)}\n\n${table(wakeHead, wakeRows)}`, raw: { speeds, wakes } };
}

/** Fills the queue of a receiver that hangs, and wakes its object again and again. */
async function measureWakes(stage: Stage, call: (path: Call, filling: Filling) => Promise<string>) {
  const webhook = await stage.listenAt("hang-for-ever", ["user.created"]);
  const filling = { key: webhook.key, url: webhook.url, rooms: 100, from: 0 };
  const step = 5_000;
  for (let from = 0; from < BACKLOG; from += step) await call("fill", { ...filling, from, events: step });
  const before = residentBytes(stage.queues.pid) ?? Number.NaN;
  const times: number[] = [];
  let waiting = 0;
  for (let wake = 0; wake < WAKES; wake += 1) {
    await call("restart", { ...filling, events: 0 });
    const startedAt = performance.now();
    waiting = Number(await call("list", { ...filling, events: 0 }));
    times.push(performance.now() - startedAt);
  }
  const grown = (residentBytes(stage.queues.pid) ?? Number.NaN) - before;
  await call("remove", { ...filling, events: 0 });
  await webhook.end();
  const sorted = times.sort((a, b) => a - b);
  return { waiting, ms: percentile(sorted, 0.95), times, megabytes: grown / 1024 ** 2 };
}
