/** The memory of an idle socket: the growth of a fresh server when a room fills up, with its garbage and without. */
import { calm, residentBytes } from "../gauge.ts";
import type { BenchOptions } from "../run.ts";
import { ratio, table, verdict } from "../table.ts";
import { type ClientProtocol, ClientSocket } from "./client-socket.ts";
import { type Subject, servingAtrium, servingBare } from "./subjects.ts";
import { inTurns, type Measured, middle, type Section } from "./turns.ts";

const SOCKETS = 1_000;
const FEW_USERS = 50;
/** The maximum ratio to the bare object's memory. */
const GOAL = 1.2;

/** Memory of a socket, in bytes; null if unknown. */
interface Growth {
  /** Memory of the process right after the joins. */
  readonly process: number | null;
  /** Memory of the process once the Worker's garbage is collected. */
  readonly collected: number | null;
  /** Heap of the Worker at that time. */
  readonly heap: number | null;
}

interface Fresh {
  readonly name: string;
  /** Measures on a fresh server. */
  measure(): Promise<Growth>;
}

export async function measureIdle(options: BenchOptions): Promise<Section> {
  const { stop } = options;
  const fresh: Fresh[] = [
    {
      name: `**Atrium**, tabs of ${FEW_USERS} users`,
      measure: () => servingAtrium(stop, (subject) => grow(subject, FEW_USERS, stop), true),
    },
    {
      name: "bare Durable Object",
      measure: () => servingBare(stop, (subject) => grow(subject, SOCKETS, stop), true),
    },
    {
      name: "**Atrium**, each of a user of its own",
      measure: () => servingAtrium(stop, (subject) => grow(subject, SOCKETS, stop), true),
    },
  ];
  const measured = await inTurns(fresh, options, (subject) => subject.measure());
  const floor = measured[1]?.runs ?? [];
  const rows = measured.map(({ name, runs }) => {
    const asItStands = cells(runs, floor, ({ process }) => process);
    const collected = cells(runs, floor, ({ collected }) => collected);
    return [name, ...asItStands, ...collected, kilobytes(middle(runs, ({ heap }) => heap))];
  });
  const head = [
    "as it stands, KB",
    "of bare",
    `≤ ${GOAL}`,
    "collected, KB",
    "of bare",
    `≤ ${GOAL}`,
    "heap, KB",
  ];
  const markdown = [
    `Memory of ${SOCKETS} idle sockets in one room, per socket, on a fresh server: as it stands after the joins, and once ` +
      "the Worker's garbage is collected",
    table(["server", ...head], rows),
  ].join("\n\n");
  return { markdown, raw: { measured } };
}

type Runs = Measured<Growth>["runs"];

/** A figure, its ratio to that of the bare object, and whether it is within the goal. */
function cells(runs: Runs, floor: Runs, figure: (run: Growth) => number | null): string[] {
  const [size, least] = [middle(runs, figure), middle(floor, figure)];
  if (size === null || least === null) return ["–", "–", ""];
  return [kilobytes(size), ratio(size / least), runs === floor ? "" : verdict(size / least <= GOAL)];
}

const kilobytes = (bytes: number | null): string => (bytes === null ? "–" : (bytes / 1024).toFixed(1));

async function grow(subject: Subject, users: number, stop: AbortSignal): Promise<Growth> {
  const protocols = await subject.createRoom(SOCKETS + 1, users);
  const wake = () => comeAndGo(protocols.slice(0, 1), stop);
  const first = await ClientSocket.openAll(protocols.slice(0, 1), stop);
  const before = await sizesOf(subject, wake, stop);
  const others = await ClientSocket.openAll(protocols.slice(1), stop);
  const after = await sizesOf(subject, wake, stop);
  for (const socket of [...first, ...others]) socket.mustBeOpen();
  for (const socket of [...first, ...others]) socket.terminate();
  const perSocket = (from: number | null, to: number | null) =>
    from === null || to === null ? null : (to - from) / others.length;
  return {
    process: perSocket(before.collected, after.process),
    collected: perSocket(before.collected, after.collected),
    heap: perSocket(before.heap, after.heap),
  };
}

/** Another tab of the first user, for a moment. */
async function comeAndGo(protocols: readonly ClientProtocol[], stop: AbortSignal): Promise<void> {
  for (const socket of await ClientSocket.openAll(protocols, stop)) socket.terminate();
}

async function sizesOf(
  { pid, inspector }: Subject,
  wake: () => Promise<void>,
  stop: AbortSignal,
): Promise<Growth> {
  await calm(pid, stop);
  const process = residentBytes(pid);
  const heap = (await inspector?.collect(wake)) ?? null;
  await calm(pid, stop);
  return { process, collected: residentBytes(pid), heap };
}
