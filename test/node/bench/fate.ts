/** The fate bench: a well-behaved room and tenant next to something hostile, and next to the same in another process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { FLOOR_SOCKETS, HOSTILE_NAMES, type HostileName, type Target } from "./fate/target.ts";
import { type Latency, Neighbours } from "./fate/well-behaved.ts";
import { calm, processorSeconds, residentBytes } from "./gauge.ts";
import { median } from "./load.ts";
import { Organization } from "./organization.ts";
import { isWanted } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE, ratio, table, verdict } from "./table.ts";

const GOAL = 1.2;
const MEBIBYTE = 1024 * 1024;
/** Unread output of one room (R67), its garbage, and the buffers of a hundred uploads. */
const MEMORY_GOAL_BYTES = 512 * MEBIBYTE;
/** Time before measuring, in which the hostile clients begin. */
const HEAD_START_MS = 500;
const MEMORY_SAMPLE_MS = 50;
/** Parts are named on a command line. */
const partOf = (name: HostileName): string => name.replaceAll(" ", "-");

/** Latencies while the hostile clients spend their burst, and afterwards. */
interface Phases {
  readonly first: Latency;
  readonly later: Latency;
  /** Work of the hostile clients in the later phase, and processor seconds of the measured process meanwhile. */
  readonly units: number;
  readonly processorSeconds: number;
}

interface Line {
  readonly name: HostileName;
  /** Runs without hostile load. */
  readonly alone: readonly Latency[];
  /** Runs while the same hostile load meets a twin of the service: the machine has as much to do. */
  readonly without: readonly Phases[];
  readonly beside: readonly Phases[];
  /** Runs while the same load meets a bare Worker, or a bare object, in this process, which refuses at once. */
  readonly floor: readonly Phases[];
  /** The growth of the process's memory, run by run. */
  readonly growth: readonly number[];
}

export const bench: Bench = { parts: HOSTILE_NAMES.map(partOf), run };

function run(options: BenchOptions): Promise<BenchReport> {
  const names = HOSTILE_NAMES.filter((name) => isWanted(options, partOf(name)));
  return serving(["fate", "refusing"], options.stop, (served) =>
    serving(["fate"], options.stop, async (twin) => {
      const lines: Line[] = [];
      for (const name of names) lines.push(await measureLine(name, served, twin, options));
      const markdown = [
        tableOf(lines),
        "Alone: with nothing hostile. Elsewhere: the hostile process loads a twin of the service in a process of its own. " +
          "Floor: it loads a bare Worker in this process that refuses at once. " +
          `Beside: it loads the service in this process. At first: in its first ${options.seconds} s, in which it spends what is allowed at once; ` +
          `later: in the next ${options.seconds} s. Goals: beside, the p95 is later at most ${GOAL} times what it is elsewhere ` +
          `or, where the runtime alone costs more, at most ${GOAL} times what it is beside the floor, and the process grows by ` +
          `at most ${MEMORY_GOAL_BYTES / MEBIBYTE} MiB. Processor: microseconds of the process for each frame, socket or ` +
          "request that the hostile process has sent later, beyond what it computes while that is elsewhere.",
        ADVICE,
      ].join("\n\n");
      return { markdown, raw: { lines } };
    }),
  );
}

/**
 * Measures a line, alternating without and beside: a machine that slows down does so for both. Each line has a
 * room of its own.
 */
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
    ...{ floor: [] as Phases[], growth: [] as number[] },
  };
  const { seconds, stop } = options;
  const measure = () => neighbours.measure(seconds, stop);
  const used = () => processorSeconds(served.pid) ?? 0;
  const measurePhases = async (units: () => number): Promise<Phases> => {
    const first = await measure();
    const [unitsBefore, usedBefore] = [units(), used()];
    const later = await measure();
    return { first, later, units: units() - unitsBefore, processorSeconds: used() - usedBefore };
  };
  const floorTarget = targetOfFloor(name, served, target);
  await neighbours.measure(1, stop);
  for (let run = 0; run < options.runs; run += 1) {
    options.progress(`Measuring beside ${name}, run ${run + 1} of ${options.runs}`);
    line.alone.push(await measure());
    line.floor.push(await besideOf(name, floorTarget, measurePhases));
    await calm(served.pid, stop);
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

/** The same target, where the bare Worker is. */
function targetOfFloor(name: HostileName, { origin }: Served, target: Target): Target {
  const bare = origin("refusing");
  return { ...target, origin: bare, socketUrl: `${bare}/${FLOOR_SOCKETS[name]}`.replace("http", "ws") };
}

/** Runs `work` while the hostile process does its work; `units` counts its messages. */
async function besideOf<T>(
  name: HostileName,
  target: Target,
  work: (units: () => number) => Promise<T>,
): Promise<T> {
  const script = path.join(import.meta.dirname, "fate/hostile.ts");
  const child = spawn(process.execPath, [script, name, JSON.stringify(target)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  let units = 0;
  child.on("message", (count) => {
    units = Number(count);
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "close");
  try {
    await new Promise((resolve) => setTimeout(resolve, HEAD_START_MS));
    return await work(() => units);
  } finally {
    kill();
    await ended;
    process.off("exit", kill);
  }
}

type Phase = "first" | "later";

/** Cost of one unit of the hostile process's work for the measured one, beyond its effect on neighbours. */
function microseconds(runs: readonly Phases[], without: readonly Phases[]): string {
  const own = median(without.map((each) => each.processorSeconds));
  const units = median(runs.map((run) => run.units));
  const seconds = Math.max(0, median(runs.map((run) => run.processorSeconds)) - own);
  return units === 0 ? "-" : ((seconds * 1_000_000) / units).toFixed(0);
}

function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ name, alone, without, beside, floor, growth }) => {
    const p95 = (latencies: readonly Latency[], of: keyof Latency) =>
      median(latencies.map((each) => each[of]));
    const inPhase = (phase: Phase, of: keyof Latency) =>
      [without, floor, beside].map((runs) =>
        p95(
          runs.map((run) => run[phase]),
          of,
        ),
      );
    /** Ratios of beside to elsewhere and to the floor. */
    const ratiosIn = (phase: Phase, of: keyof Latency) => {
      const [elsewhere = 0, bare = 0, here = 0] = inPhase(phase, of);
      return { ofElsewhere: here / elsewhere, ofFloor: here / bare };
    };
    const columns = (of: keyof Latency) => [
      [p95(alone, of), ...inPhase("later", of)].map((ms) => ms.toFixed(0)).join(" / "),
      ratio(ratiosIn("first", of).ofElsewhere),
      ratio(ratiosIn("later", of).ofElsewhere),
      ratio(ratiosIn("later", of).ofFloor),
    ];
    const grown = Math.max(...growth);
    const met = (["room", "rest"] as const).map((of) => {
      const { ofElsewhere, ofFloor } = ratiosIn("later", of);
      return Math.min(ofElsewhere, ofFloor) <= GOAL;
    });
    const isMet = met.every(Boolean) && grown <= MEMORY_GOAL_BYTES;
    const cost = `${microseconds(beside, without)} / ${microseconds(floor, without)}`;
    return [
      name,
      ...columns("room"),
      ...columns("rest"),
      cost,
      `${(grown / MEBIBYTE).toFixed(0)}`,
      verdict(isMet),
    ];
  });
  const four = "p95 ms later, alone / elsewhere / floor / beside";
  const ratios = ["beside ÷ elsewhere at first", "later", "÷ floor later"];
  const head = ["next to", `room: ${four}`, ...ratios, `REST: ${four}`, ...ratios];
  return table([...head, "processor µs, beside / floor", "growth MiB", "ok"], rows);
}
