/** How long it takes to open a large store, next to reading and parsing its JSON. */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table, verdict } from "../table.ts";
import type { Outcome, Task } from "./application.ts";
import { Board, SHAPES } from "./board.ts";
import type { Spent } from "./spend.ts";

/** How long opening may take, as a multiple of reading and parsing. */
const GOAL = 1.3;

export async function measureOpening(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const { origin: serverUrl, textOrigin: url, pid } = subjects;
  const board = await Board.create(subjects);
  await board.fill();
  await fetch(url, { method: "PUT", body: JSON.stringify(await board.read()) });
  const token = await board.createUser("Ada");
  const application = fork(path.join(import.meta.dirname, "application.ts"));
  const run = async (task: Task): Promise<Spent> => {
    await calm(pid, options.stop);
    const answered = once(application, "message", { signal: options.stop });
    application.send(task);
    const [{ spent, entries }] = (await answered) as [Outcome];
    if (entries !== SHAPES) throw new Error(`The application has found ${entries} entries`);
    return spent;
  };
  try {
    const [opening, reading] = await inTurns(
      [
        { name: "opening", task: { type: "open", serverUrl, token } as const },
        { name: "reading", task: { type: "read", url } as const },
      ],
      options,
      ({ task }) => run(task),
    );
    return describe(opening?.runs ?? [], reading?.runs ?? []);
  } finally {
    application.kill();
  }
}

function describe(opening: readonly Spent[], reading: readonly Spent[]): Section {
  const rowOf = (what: string, figure: (run: Spent) => number): readonly string[] => {
    const [opened, floor] = [medianOf(opening, figure), medianOf(reading, figure)];
    const cells = [opened.toFixed(0), floor.toFixed(0), ratio(opened / floor)];
    return [what, ...cells, `≤ ${GOAL}`, verdict(opened <= floor * GOAL)];
  };
  const head = ["a store of 10,000 entries of 1 KB (ms)", "opened", "read and parsed", "ratio", "goal", "ok"];
  const rows = [
    rowOf("time", ({ ms }) => ms),
    rowOf("the application's processor time", ({ processorMs }) => processorMs),
  ];
  return { markdown: table(head, rows), raw: { opening, reading } };
}
