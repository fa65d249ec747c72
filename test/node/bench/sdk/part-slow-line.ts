/** Writes over a slow line: how long after the last one another client has everything. */
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { count, table, verdict } from "../table.ts";
import { Board } from "./board.ts";
import { SlowLine } from "./slow-line.ts";

const LINE = { bytesPerSecond: 50_000, delayMs: 40 };
const ENTRIES = 100;
const TEXT = "0123456789".repeat(45);
const TURN_MS = 50;
const GOAL_MS = 1_000;
const LIMIT_MS = 120_000;

interface Subject {
  readonly name: string;
  /** The entries that are written in each turn. */
  readonly entries: number;
  /** The time of the line for the last values alone. */
  readonly floorMs: number;
}

const SUBJECTS: readonly Subject[] = [
  { name: "one of 100 entries of 0.5 kB, 20 times a second", entries: 1, floorMs: 0 },
  {
    name: "all 100 of them, 20 times a second",
    entries: ENTRIES,
    floorMs: (ENTRIES * JSON.stringify(operationOf(0, 0)).length * 1000) / LINE.bytesPerSecond,
  },
];

export async function measureSlowLine(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const once = async ({ entries }: Subject, seconds: number): Promise<number> => {
    const board = await Board.create(subjects);
    const [ada, bo] = [await board.createUser("Ada"), await board.createUser("Bo")];
    const line = await SlowLine.to(subjects.origin, LINE);
    try {
      const [writing, reading] = [await board.join(ada, { origin: line.origin }), await board.join(bo)];
      await Board.shapesOf(reading).sync();
      await calm(subjects.pid, options.stop);
      const waiting = new Map<string, number>();
      const { promise, resolve } = Promise.withResolvers<void>();
      let [isOver, writtenAt] = [false, 0];
      Board.shapesOf(reading).on("changed", ({ key, value }) => {
        if (waiting.get(key) === Object(value).turn) waiting.delete(key);
        if (isOver && waiting.size === 0) resolve();
      });
      const startedAt = performance.now();
      for (let turn = 0; performance.now() < startedAt + seconds * 1000; turn += 1) {
        options.stop.throwIfAborted();
        for (let entry = 0; entry < entries; entry += 1) {
          const { key, value } = operationOf((turn + entry) % ENTRIES, turn);
          waiting.set(key, turn);
          void Board.shapesOf(writing).set(key, value);
        }
        writtenAt = performance.now();
        const dueAt = startedAt + (turn + 1) * TURN_MS;
        await new Promise((wake) => setTimeout(wake, Math.max(0, dueAt - performance.now())));
      }
      isOver = true;
      const limit = setTimeout(resolve, LIMIT_MS);
      if (waiting.size > 0) await promise;
      clearTimeout(limit);
      const lateMs = performance.now() - writtenAt;
      reading.disconnect();
      await writing.leave();
      if (waiting.size > 0) throw new Error(`${waiting.size} entries have not arrived`);
      return lateMs;
    } finally {
      line.close();
    }
  };
  const measured = await inTurns(SUBJECTS, options, once);
  const rows = measured.map(({ name, runs }, index) => {
    const floorMs = SUBJECTS[index]?.floorMs ?? 0;
    const worst = Math.max(...runs);
    const figures = [medianOf(runs, (run) => run), worst, floorMs].map(count);
    return [name, ...figures, `≤ ${count(GOAL_MS)} beyond it`, verdict(worst - floorMs <= GOAL_MS)];
  });
  const head = [
    "over 50 kB/s and 80 ms",
    "last arrival ms",
    "worst",
    "of which the line needs for one value of each",
    "goal",
    "ok",
  ];
  return { markdown: table(head, rows), raw: { measured } };
}

function operationOf(entry: number, turn: number) {
  return { type: "STORE_SET", store: "shapes", key: Board.keyOf(entry), value: { turn, text: TEXT } };
}
