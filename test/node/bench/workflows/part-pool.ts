/** The pool with 1, 10 and 50 organizations at work: first runs of idle ones, runs per second, and the memory of a process. */
import { readUsage } from "../../../../src/cli/service/pool/program-process.ts";
import { percentile } from "../events/burst.ts";
import { childProcesses } from "../gauge.ts";
import { Organization } from "../organization.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { Served } from "../serve.ts";
import { count, table } from "../table.ts";
import { Automation } from "./automation.ts";

const SIZES = [1, 10, 50];
const MEBIBYTE = 1024 ** 2;
/** A process without work ends after 30 s; by then, nothing is left of the size before. */
const ALL_IDLE_MS = 35_000;

interface Tenant {
  readonly automation: Automation;
  readonly roomId: string;
}

/** Times in milliseconds, each list sorted. */
interface Measured {
  readonly organizations: number;
  readonly firstMs: readonly number[];
  readonly runMs: readonly number[];
  readonly runsPerSecond: number;
  /** Private memory of each process of a program, in bytes. */
  readonly processBytes: readonly number[];
}

export async function measurePool({ db, origin, pid }: Served, options: BenchOptions): Promise<Section> {
  const measured: Measured[] = [];
  for (const size of SIZES) {
    if (measured.length > 0) await new Promise((resolve) => setTimeout(resolve, ALL_IDLE_MS));
    const tenants: Tenant[] = [];
    for (let index = 0; index < size; index += 1) {
      const organization = await Organization.create(db, origin("pooled-atrium"));
      const automation = new Automation(origin("pooled-atrium"), organization);
      await automation.prepare(["session.started"]);
      tenants.push({ automation, roomId: await organization.createRoom("The room") });
    }
    measured.push(await measure(tenants, pid, options));
    for (const { automation } of tenants) await automation.remove();
  }
  const rows = measured.map(({ organizations, firstMs, runMs, runsPerSecond, processBytes }) => [
    count(organizations),
    inMs(firstMs, 0.5),
    inMs(firstMs, 0.95),
    count(runsPerSecond),
    inMs(runMs, 0.5),
    inMs(runMs, 0.95),
    count(processBytes.length),
    count(percentile(processBytes, 0.5) / MEBIBYTE),
  ]);
  const head = [
    "organizations",
    "first run of an idle one: p50 (ms)",
    "p95 (ms)",
    "runs/s of all at once",
    "p50 (ms)",
    "p95 (ms)",
    "processes",
    "MiB of each",
  ];
  return { markdown: table(head, rows), raw: { measured } };
}

/** First runs one after the other, then all organizations at once, each one run after the other. */
async function measure(
  tenants: readonly Tenant[],
  service: number,
  { seconds, stop }: BenchOptions,
): Promise<Measured> {
  const firstMs: number[] = [];
  for (const { automation, roomId } of tenants) firstMs.push(await automation.run(roomId));
  const runMs: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const work = async ({ automation, roomId }: Tenant): Promise<void> => {
    do {
      stop.throwIfAborted();
      runMs.push(await automation.run(roomId));
    } while (performance.now() < endsAt);
  };
  await Promise.all(tenants.map(work));
  const elapsedS = (performance.now() - startedAt) / 1000;
  return {
    organizations: tenants.length,
    firstMs: sorted(firstMs),
    runMs: sorted(runMs),
    runsPerSecond: runMs.length / elapsedS,
    processBytes: sorted(await memoryOfPrograms(service)),
  };
}

/** Private memory of each child of this process, without the service. */
async function memoryOfPrograms(service: number): Promise<number[]> {
  const programs = childProcesses().filter((pid) => pid !== service);
  const usages = await readUsage(programs);
  return programs.flatMap((pid) => usages.get(pid)?.memoryBytes ?? []);
}

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const inMs = (values: readonly number[], share: number): string => percentile(values, share).toFixed(0);
