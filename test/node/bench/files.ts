/** The files bench: uploads and downloads beside a bare R2 put and get, and their memory use. */

import { PART_BYTES } from "../../../src/features/files/blob-writer.ts";
import { measureRise, type Rise } from "./files/memory.ts";
import { atriumStore, barePartedStore, bareStore, type FileStore, MEBIBYTE } from "./files/stores.ts";
import { ratePerSecond } from "./files/transfer.ts";
import { median } from "./load.ts";
import { isWanted } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE, ratio, table, verdict } from "./table.ts";

/** The minimum share of the bare throughput. */
const GOAL = 0.8;
const MEMORY_GOAL_BYTES = 32 * MEBIBYTE;

/** A file size, and the number of concurrent connections. */
const SIZES = [
  { bytes: MEBIBYTE, connections: 4 },
  { bytes: 50 * MEBIBYTE, connections: 2 },
] as const;

type Size = (typeof SIZES)[number];
type Verb = "put" | "get";

/** Mebibytes per second, run by run. */
interface Line {
  readonly verb: Verb;
  readonly size: Size;
  readonly floor: string;
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

export const bench: Bench = { parts: ["throughput", "memory"], run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "floors"], options.stop, async (served) => {
    const [atrium, bare, parted] = [await atriumStore(served), bareStore(served), barePartedStore(served)];
    const lines: Line[] = [];
    for (const size of isWanted(options, "throughput") ? SIZES : []) {
      lines.push(await measureLine([atrium, bare], "put", size, options));
      lines.push(await measureLine([atrium, bare], "get", size, options));
      // Unlike R2, Miniflare joins the parts again for each get.
      if (size.bytes > PART_BYTES) lines.push(await measureLine([atrium, parted], "get", size, options));
    }
    const rises = isWanted(options, "memory") ? await measureRises([atrium, bare], served, options) : [];
    const markdown = [
      ...(lines.length === 0 ? [] : [tableOf(lines)]),
      ...rises.map(({ name, rise }) => riseLine(name, rise)),
      ADVICE,
    ].join("\n\n");
    return { markdown, raw: { lines, rises } };
  });
}

/** Alternates between the two, so that changes in the speed of the machine affect both. */
async function measureLine(
  [atrium, bare]: readonly [FileStore, FileStore],
  verb: Verb,
  size: Size,
  options: BenchOptions,
): Promise<Line> {
  const line = { verb, size, floor: bare.name, ours: [] as number[], bare: [] as number[] };
  const warmUp = { ...options, seconds: 1 };
  options.progress(`Measuring ${verb} of ${size.bytes / MEBIBYTE} MiB beside ${bare.name}`);
  for (const store of [atrium, bare]) await measureRun(store, verb, size, warmUp);
  for (let run = 0; run < options.runs; run += 1) {
    line.ours.push(await measureRun(atrium, verb, size, options));
    line.bare.push(await measureRun(bare, verb, size, options));
  }
  return line;
}

async function measureRun(store: FileStore, verb: Verb, size: Size, options: BenchOptions): Promise<number> {
  const { seconds, stop } = options;
  const keys: string[] = [];
  const keep = (answer: Parameters<FileStore["keyOf"]>[0]) => keys.push(store.keyOf(answer));
  const rate = async (): Promise<number> => {
    const put = store.put(size.bytes);
    if (verb === "put") return ratePerSecond(put, size.connections, seconds, stop, keep);
    await ratePerSecond(put, 1, 0, stop, keep);
    const get = store.get(keys[0] ?? "");
    return ratePerSecond(get, size.connections, seconds, stop, ({ bytes }) => {
      if (bytes !== size.bytes) throw new Error(`${store.name} returned ${bytes} of ${size.bytes} bytes`);
    });
  };
  const perSecond = await rate();
  await store.remove(keys, stop);
  return (perSecond * size.bytes) / MEBIBYTE;
}

async function measureRises(stores: readonly FileStore[], { pid }: Served, options: BenchOptions) {
  const rises: { name: string; rise: Rise | null }[] = [];
  for (const store of stores) rises.push({ name: store.name, rise: await measureRise(store, pid, options) });
  return rises;
}

function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ verb, size, floor, ours, bare }) => {
    const share = median(ours) / median(bare);
    const what = `${verb} ${size.bytes / MEBIBYTE} MiB, ${size.connections} at once`;
    return [
      what,
      floor,
      ...[ours, bare].map((runs) => median(runs).toFixed(0)),
      ratio(share),
      `≥ ${GOAL}`,
      verdict(share >= GOAL),
    ];
  });
  return table(["request", "floor", "Atrium MiB/s", "floor MiB/s", "of its floor", "goal", "ok"], rows);
}

function riseLine(name: string, rise: Rise | null): string {
  if (rise === null) return `${name}: the system does not tell what memory a process takes.`;
  const mebibytes = (bytes: number) => (bytes / MEBIBYTE).toFixed(0);
  return (
    `${name}: an upload of 100 MiB raises the process's memory by at most ${mebibytes(rise.bytes)} MiB ` +
    `(runs: ${rise.runs.map(mebibytes).join(", ")}; goal: at most ${mebibytes(MEMORY_GOAL_BYTES)}): ` +
    verdict(rise.bytes <= MEMORY_GOAL_BYTES)
  );
}
