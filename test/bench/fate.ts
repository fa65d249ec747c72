/** The fate bench: a well-behaved room and tenant next to something hostile, and next to the same in another process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { HOSTILE_NAMES, type HostileName, type Target } from "./fate/target.ts";
import { type Latency, Neighbours } from "./fate/well-behaved.ts";
import { calm, residentBytes } from "./gauge.ts";
import { median } from "./load.ts";
import { Organization } from "./organization.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE, ratio, table, verdict } from "./table.ts";

const GOAL = 1.2;
const MEBIBYTE = 1024 * 1024;
/** Unread output of one room (R67), its garbage, and the buffers of a hundred uploads. */
const MEMORY_GOAL_BYTES = 512 * MEBIBYTE;
/** Before measuring: the hostile ones need time to begin. */
const HEAD_START_MS = 500;
const MEMORY_SAMPLE_MS = 50;
/** Parts are named on a command line. */
const partOf = (name: HostileName): string => name.replaceAll(" ", "-");

/** While the hostile ones spend what is allowed to them at once, and afterwards. */
interface Phases {
  readonly first: Latency;
  readonly later: Latency;
}

interface Line {
  readonly name: HostileName;
  /** With nothing hostile at all. */
  readonly alone: readonly Latency[];
  /** While the same hostile load meets a twin of the service: the machine has as much to do. */
  readonly without: readonly Phases[];
  readonly beside: readonly Phases[];
  /** The growth of the process's memory, run by run. */
  readonly growth: readonly number[];
}

export const bench: Bench = { parts: HOSTILE_NAMES.map(partOf), run };

function run(options: BenchOptions): Promise<BenchReport> {
  const names = HOSTILE_NAMES.filter(
    (name) => options.parts.length === 0 || options.parts.includes(partOf(name)),
  );
  return serving(["fate"], options.stop, (served) =>
    serving(["fate"], options.stop, async (twin) => {
      const lines: Line[] = [];
      for (const name of names) lines.push(await measureLine(name, served, twin, options));
      const markdown = [
        tableOf(lines),
        "Alone: with nothing hostile. Elsewhere: the hostile process loads a twin of the service in a process of its own. " +
          `Beside: it loads this one. At first: in its first ${options.seconds} s, in which it spends what is allowed at once; ` +
          `later: in the next ${options.seconds} s. Goal: beside, the p95 is later at most ${GOAL} times what it is elsewhere, ` +
          `and the process grows by at most ${MEMORY_GOAL_BYTES / MEBIBYTE} MiB.`,
        ADVICE,
      ].join("\n\n");
      return { markdown, raw: { lines } };
    }),
  );
}

/** In turns without and beside: a machine that slows down does so for both. Each line has a room of its own. */
async function measureLine(
  name: HostileName,
  served: Served,
  twin: Served,
  options: BenchOptions,
): Promise<Line> {
  const { neighbours, target } = await settle(served);
  const elsewhere = await settle(twin);
  elsewhere.neighbours.leave();
  const line = {
    ...{ name, alone: [] as Latency[], without: [] as Phases[], beside: [] as Phases[] },
    growth: [] as number[],
  };
  const { seconds, stop } = options;
  const measure = () => neighbours.measure(seconds, stop);
  const measurePhases = async (): Promise<Phases> => ({ first: await measure(), later: await measure() });
  await neighbours.measure(1, stop);
  for (let run = 0; run < options.runs; run += 1) {
    line.alone.push(await measure());
    line.without.push(await besideOf(name, elsewhere.target, measurePhases));
    await calm(twin.pid, stop);
    const before = residentBytes(served.pid) ?? 0;
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentBytes(served.pid) ?? 0);
    }, MEMORY_SAMPLE_MS);
    try {
      line.beside.push(await besideOf(name, target, measurePhases));
    } finally {
      clearInterval(sampling);
    }
    line.growth.push(peak - before);
    await calm(served.pid, stop);
  }
  neighbours.leave();
  return line;
}

/** The hostile one is a member of the well-behaved room; the REST requests are of another organization. */
async function settle({ db, origin }: Served): Promise<{ neighbours: Neighbours; target: Target }> {
  const [ours, other] = [
    await Organization.create(db, origin("fate")),
    await Organization.create(db, origin("fate")),
  ];
  const [roomId, otherRoomId] = [await ours.createRoom("A room"), await other.createRoom("Another room")];
  const tokens = [await ours.createUser("Ada", roomId), await ours.createUser("Ben", roomId)] as const;
  const token = await ours.createUser("Mallory", roomId);
  const userId = await ours.createUserId("Uploader", roomId);
  const accountPath = `/v1/accounts/${ours.accountId}`;
  const socketUrl = `${origin("fate")}${accountPath}/rooms/${roomId}/socket`.replace("http", "ws");
  const url = `${origin("fate")}/v1/accounts/${other.accountId}/rooms/${otherRoomId}`;
  const request = () => fetch(url, { headers: other.headers });
  const neighbours = await Neighbours.join({ socketUrl, tokens, request });
  const authorization = ours.headers;
  return {
    neighbours,
    target: { origin: origin("fate"), socketUrl, accountPath, authorization, roomId, userId, token },
  };
}

async function besideOf<T>(name: HostileName, target: Target, work: () => Promise<T>): Promise<T> {
  const script = path.join(import.meta.dirname, "fate/hostile.ts");
  const child = spawn(process.execPath, [script, name, JSON.stringify(target)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "close");
  try {
    await new Promise((resolve) => setTimeout(resolve, HEAD_START_MS));
    return await work();
  } finally {
    kill();
    await ended;
    process.off("exit", kill);
  }
}

function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ name, alone, without, beside, growth }) => {
    const p95 = (latencies: readonly Latency[], of: keyof Latency) =>
      median(latencies.map((each) => each[of]));
    const inPhase = (phase: keyof Phases, of: keyof Latency) =>
      [without, beside].map((runs) =>
        p95(
          runs.map((run) => run[phase]),
          of,
        ),
      );
    const ratioIn = (phase: keyof Phases, of: keyof Latency): number => {
      const [elsewhere = 0, here = 0] = inPhase(phase, of);
      return here / elsewhere;
    };
    const columns = (of: keyof Latency) => [
      [p95(alone, of), ...inPhase("later", of)].map((ms) => ms.toFixed(0)).join(" / "),
      ratio(ratioIn("first", of)),
      ratio(ratioIn("later", of)),
    ];
    const grown = Math.max(...growth);
    const isMet =
      Math.max(ratioIn("later", "room"), ratioIn("later", "rest")) <= GOAL && grown <= MEMORY_GOAL_BYTES;
    return [name, ...columns("room"), ...columns("rest"), `${(grown / MEBIBYTE).toFixed(0)}`, verdict(isMet)];
  });
  const three = "p95 ms later, alone / elsewhere / beside";
  const ratios = ["ratio at first", "later"];
  const head = ["next to", `room: ${three}`, ...ratios, `REST: ${three}`, ...ratios, "growth MiB", "ok"];
  return table(head, rows);
}
