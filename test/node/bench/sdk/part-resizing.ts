/** Many shapes are resized for several seconds: how long after the last movement another client has the end. */
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { count, table, verdict } from "../table.ts";
import { Board } from "./board.ts";

const SHAPES = 200;
/** Frame interval of browsers. */
const FRAME_MS = 1000 / 60;
const GOAL_MS = 1_000;
const LIMIT_MS = 120_000;

interface Run {
  /** Writes of the user's application. */
  readonly writes: number;
  /** Changes that the other client received. */
  readonly changes: number;
  readonly lateMs: number;
}

export async function measureResizing(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const once = async (_: unknown, seconds: number): Promise<Run> => {
    const board = await Board.create(subjects);
    const [ada, bo] = [await board.createUser("Ada"), await board.createUser("Bo")];
    const [writing, reading] = [await board.join(ada), await board.join(bo)];
    await Board.shapesOf(reading).sync();
    await calm(subjects.pid, options.stop);
    let changes = 0;
    const waiting = new Map<string, number>();
    const { promise, resolve } = Promise.withResolvers<void>();
    Board.shapesOf(reading).on("changed", ({ key, value }) => {
      changes += 1;
      if (waiting.get(key) === sizeOf(value)) waiting.delete(key);
      if (isOver && waiting.size === 0) resolve();
    });

    let isOver = false;
    let size = 0;
    const endsAt = performance.now() + seconds * 1000;
    for (let next = performance.now(); next < endsAt; next += FRAME_MS) {
      options.stop.throwIfAborted();
      size += 1;
      for (let shape = 0; shape < SHAPES; shape += 1) {
        void Board.shapesOf(writing).set(Board.keyOf(shape), { type: "box", x: shape, y: 0, size });
        waiting.set(Board.keyOf(shape), size);
      }
      await new Promise((wake) => setTimeout(wake, Math.max(0, next + FRAME_MS - performance.now())));
    }
    isOver = true;
    const endedAt = performance.now();
    const limit = setTimeout(resolve, LIMIT_MS);
    if (waiting.size > 0) await promise;
    clearTimeout(limit);
    const lateMs = performance.now() - endedAt;
    reading.disconnect();
    await writing.leave();
    if (waiting.size > 0) throw new Error(`${waiting.size} shapes have not arrived`);
    return { writes: size * SHAPES, changes, lateMs };
  };
  const [measured] = await inTurns([{ name: "resizing" }], options, once);
  const runs = measured?.runs ?? [];
  const late = medianOf(runs, ({ lateMs }) => lateMs);
  const worst = Math.max(...runs.map(({ lateMs }) => lateMs));
  const head = [
    "200 shapes, resized at 60 Hz",
    "writes",
    "received",
    "last arrival ms",
    "worst",
    "goal",
    "ok",
  ];
  const row = [
    `for ${options.seconds} s`,
    count(medianOf(runs, ({ writes }) => writes)),
    count(medianOf(runs, ({ changes }) => changes)),
    count(late),
    count(worst),
    `≤ ${count(GOAL_MS)}`,
    verdict(worst <= GOAL_MS),
  ];
  return { markdown: table(head, [row]), raw: { runs } };
}

const sizeOf = (value: unknown): number => Number(Object(value).size);
