/** The memory of an idle socket: the growth of a fresh server when a room fills up. */
import { calm, residentBytes } from "../gauge.ts";
import type { BenchOptions } from "../run.ts";
import { ratio, table, verdict } from "../table.ts";
import { ClientSocket } from "./client-socket.ts";
import { type Subject, servingAtrium, servingBare } from "./subjects.ts";
import { inTurns, middle, type Section } from "./turns.ts";

const SOCKETS = 1_000;
const FEW_USERS = 50;
/** The maximum ratio to the bare object's memory. */
const GOAL = 1.1;

interface Fresh {
  readonly name: string;
  /** Bytes per socket on a fresh server; null if unknown. */
  measure(): Promise<number | null>;
}

export async function measureIdle(options: BenchOptions): Promise<Section> {
  const { stop } = options;
  const fresh: Fresh[] = [
    {
      name: `**Atrium**, tabs of ${FEW_USERS} users`,
      measure: () => servingAtrium(stop, (subject) => grow(subject, FEW_USERS, stop)),
    },
    {
      name: "bare Durable Object",
      measure: () => servingBare(stop, (subject) => grow(subject, SOCKETS, stop)),
    },
    {
      name: "**Atrium**, each of a user of its own",
      measure: () => servingAtrium(stop, (subject) => grow(subject, SOCKETS, stop)),
    },
  ];
  const measured = await inTurns(fresh, options, (subject) => subject.measure());
  const sizes = measured.map(({ runs }) => middle(runs, (run) => run));
  const floor = sizes[1] ?? null;
  const rows = measured.map(({ name }, index) => {
    const size = sizes[index] ?? null;
    if (size === null || floor === null) return [name, "–", "–", "", ""];
    const goal = index === 0 ? [`≤ ${GOAL}`, verdict(size / floor <= GOAL)] : ["", ""];
    return [name, (size / 1024).toFixed(0), ratio(size / floor), ...goal];
  });
  const markdown = [
    `Memory of ${SOCKETS} idle sockets in one room, on a fresh server`,
    table(["server", "KB per socket", "of bare", "goal", "ok"], rows),
    "What the joins leave to be collected is in it: each answer names all users who are there.",
  ].join("\n\n");
  return { markdown, raw: { measured } };
}

async function grow(subject: Subject, users: number, stop: AbortSignal): Promise<number | null> {
  const protocols = await subject.createRoom(SOCKETS + 1, users);
  const first = await ClientSocket.openAll(protocols.slice(0, 1), stop);
  await calm(subject.pid, stop);
  const before = residentBytes(subject.pid);
  const others = await ClientSocket.openAll(protocols.slice(1), stop);
  await calm(subject.pid, stop);
  const after = residentBytes(subject.pid);
  for (const socket of [...first, ...others]) socket.mustBeOpen();
  for (const socket of [...first, ...others]) socket.terminate();
  return before === null || after === null ? null : (after - before) / others.length;
}
