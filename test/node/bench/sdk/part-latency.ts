/** How long a `set` takes until the other client's `changed`, next to a bare object that passes messages on. */

import { calm } from "../gauge.ts";
import { atriumProtocol, plainProtocol } from "../room/client-protocols.ts";
import { ClientSocket } from "../room/client-socket.ts";
import { Histogram } from "../room/histogram.ts";
import { type Pacing, sendSteadily } from "../room/steady-traffic.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table } from "../table.ts";
import { Board } from "./board.ts";

const WRITES_PER_SECOND = 20;
/** Number of users in a busy room who each move a cursor at this rate. */
const CROWD = 25;
const CURSORS: Pacing = {
  senders: CROWD,
  perSecond: 20,
  bytes: 40,
  frameOf: (protocol, text) => protocol.updatePresence(text),
  areCursors: true,
};
const VALUE = { type: "box", x: 10, y: 20, width: 30, height: 40, color: "black" };
const ARRIVAL_LIMIT_MS = 20_000;

/** Two clients in a room: one writes, and the other receives. */
interface Pair {
  /** Writes a value with this number. */
  write(number: number): void;
  /** Sets the listener for the number of each arriving value. */
  listen(arrived: (number: number) => void): void;
  close(): Promise<void>;
}

interface Subject {
  readonly name: string;
  open(crowd: number): Promise<{ readonly pair: Pair; readonly crowd: readonly ClientSocket[] }>;
}

interface Run {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export async function measureLatency(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const measure = (crowd: number) =>
    inTurns(subjectsOf(subjects, options.stop), options, async (subject, seconds): Promise<Run> => {
      const room = await subject.open(crowd);
      await calm(subjects.pid, options.stop);
      try {
        const [latencies] = await Promise.all([
          writeSteadily(room.pair, seconds),
          crowd > 0 ? sendSteadily(room.crowd, subjects.pid, CURSORS, seconds, options.stop) : null,
        ]);
        return { p50Ms: latencies.quantile(0.5), p95Ms: latencies.quantile(0.95) };
      } finally {
        await room.pair.close();
        for (const socket of room.crowd) socket.terminate();
      }
    });
  const [calmRoom, busyRoom] = [await measure(0), await measure(CROWD)];
  const rows = [
    ["two users, who do nothing else", calmRoom] as const,
    [`${CROWD} more users, whose cursors move 20 times a second`, busyRoom] as const,
  ].map(([name, [sdk, bare]]) => {
    const [ours, floor] = [sdk?.runs ?? [], bare?.runs ?? []];
    const cells = [p50Of, p95Of].map((figure) => {
      const [of, to] = [medianOf(ours, figure), medianOf(floor, figure)];
      return [of.toFixed(1), to.toFixed(1), ratio(of / to)];
    });
    return [name, ...cells.flat()];
  });
  const head = ["from `set` to `changed` (ms)", "p50", "bare", "ratio", "p95", "bare", "ratio"];
  return { markdown: table(head, rows), raw: { calmRoom, busyRoom } };
}

const p50Of = (run: Run): number => run.p50Ms;
const p95Of = (run: Run): number => run.p95Ms;

function subjectsOf(subjects: SdkSubjects, stop: AbortSignal): readonly Subject[] {
  return [
    { name: "the SDK", open: (crowd) => openBoard(subjects, crowd, stop) },
    { name: "bare Durable Object", open: (crowd) => openBare(subjects, crowd, stop) },
  ];
}

async function openBoard(subjects: SdkSubjects, crowd: number, stop: AbortSignal) {
  const board = await Board.create(subjects);
  const tokens = await Promise.all(
    Array.from({ length: crowd + 2 }, (_, user) => board.createUser(`User ${user}`)),
  );
  const [ada = "", bo = "", ...others] = tokens;
  const [writing, reading] = [await board.join(ada), await board.join(bo)];
  await Board.shapesOf(reading).sync();
  const protocols = others.map((token) => atriumProtocol(board.socketUrl, token));
  const pair: Pair = {
    write: (number) => void Board.shapesOf(writing).set(Board.keyOf(number % 100), { ...VALUE, number }),
    listen: (arrived) =>
      Board.shapesOf(reading).on("changed", ({ value }) => arrived(Number(Object(value).number))),
    // The last value has arrived, its acknowledgement perhaps not.
    close: async () => void (await Promise.all([writing.leave(), reading.leave()])),
  };
  return { pair, crowd: await ClientSocket.openAll(protocols, stop) };
}

async function openBare({ bareOrigin }: SdkSubjects, crowd: number, stop: AbortSignal) {
  const protocol = plainProtocol(`${bareOrigin.replace("http", "ws")}/${crypto.randomUUID()}`);
  const [writing, reading] = [await opened(protocol.url), await opened(protocol.url)];
  const pair: Pair = {
    write: (number) => writing.send(JSON.stringify({ change: { ...VALUE, number } })),
    listen: (arrived) => {
      reading.addEventListener("message", ({ data }) => {
        const { change } = JSON.parse(String(data)) as { change?: { number: number } };
        if (change !== undefined) arrived(change.number);
      });
    },
    close: async () => {
      for (const socket of [writing, reading]) socket.close();
    },
  };
  return {
    pair,
    crowd: await ClientSocket.openAll(
      Array.from({ length: crowd }, () => protocol),
      stop,
    ),
  };
}

/** The same WebSocket that the SDK uses. */
function opened(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("error", () => reject(new Error(`${url} refused a socket`)));
  });
}

/** Writes at a fixed rate, and waits until everything has arrived. */
async function writeSteadily(pair: Pair, seconds: number): Promise<Histogram> {
  const writes = seconds * WRITES_PER_SECOND;
  const latencies = new Histogram();
  const sentAt = new Map<number, number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  pair.listen((number) => {
    latencies.add(performance.now() - (sentAt.get(number) ?? Number.NaN));
    sentAt.delete(number);
    if (number === writes) resolve();
  });
  const startedAt = performance.now();
  for (let number = 1; number <= writes; number += 1) {
    const dueAt = startedAt + (number * 1000) / WRITES_PER_SECOND;
    await new Promise((wake) => setTimeout(wake, Math.max(0, dueAt - performance.now())));
    sentAt.set(number, performance.now());
    pair.write(number);
  }
  const limit = setTimeout(resolve, ARRIVAL_LIMIT_MS);
  await promise;
  clearTimeout(limit);
  if (sentAt.size > 0) throw new Error(`${sentAt.size} of ${writes} writes have not arrived`);
  return latencies;
}
