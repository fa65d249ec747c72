/** Runs of a trivial workflow per second, warm and cold, beside the same function called by the Worker Loader alone, and in the pool. */
import { CommandError } from "../../../../src/cli/process/command.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, ratio, table, verdict } from "../table.ts";

/** The minimum share of the bare call's rate in a warm isolate. */
const GOAL = 0.5;

interface Scene {
  readonly name: string;
  readonly ours: string;
  readonly bare: string;
  readonly inFlight: number;
  /** Runs per request: many, so that the cost of the request does not show. */
  readonly batch: number;
  readonly goal: number | null;
}

const warm = { ours: "warm", bare: "bare-warm", goal: GOAL };
const SCENES: readonly Scene[] = [
  { ...warm, name: "warm, one after the other", inFlight: 1, batch: 200 },
  { ...warm, name: "warm, 32 in flight", inFlight: 32, batch: 400 },
  { name: "cold, one after the other", ours: "cold", bare: "bare-cold", inFlight: 1, batch: 20, goal: null },
];

export async function measureRuns(
  origin: (worker: string) => string,
  options: BenchOptions,
): Promise<Section> {
  const rows: string[][] = [];
  const raw: object[] = [];
  for (const scene of SCENES) {
    const subjects = [
      { name: scene.ours, worker: "runs" },
      { name: scene.bare, worker: "runs" },
      { name: scene.ours, worker: "pooled-runs" },
    ];
    const measured = await inTurns(subjects, options, ({ name, worker }, seconds) => {
      const url = `${origin(worker)}/${name}/${scene.batch}/${scene.inFlight}`;
      return runsPerSecond(url, scene.batch, seconds, options.stop);
    });
    const [ours = 0, bare = 0, pooled = 0] = measured.map(({ runs }) => medianOf(runs, (rate) => rate));
    const share = ours / bare;
    const judged = scene.goal === null ? ["", ""] : [`≥ ${scene.goal}`, verdict(share >= scene.goal)];
    rows.push([scene.name, count(ours), count(bare), ratio(share), ...judged, count(pooled)]);
    raw.push({ scene: scene.name, measured });
  }
  const head = ["runs", "Atrium/s", "Worker Loader/s", "of it", "goal", "ok", "in the pool/s"];
  return { markdown: table(head, rows), raw };
}

async function runsPerSecond(
  url: string,
  batch: number,
  seconds: number,
  stop: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  let runs = 0;
  let elapsedMs = 0;
  while (elapsedMs < seconds * 1000) {
    const response = await fetch(url, { signal: stop });
    if (!response.ok) throw new CommandError(`${url} answered ${response.status}`);
    await response.text();
    runs += batch;
    elapsedMs = performance.now() - startedAt;
  }
  return (runs * 1000) / elapsedMs;
}
