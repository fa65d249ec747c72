/** How long it takes to open a large store, next to reading and parsing its JSON. */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { calm } from "../gauge.ts";
import { inTurns, type Measured, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table, verdict } from "../table.ts";
import type { Outcome, Task } from "./application.ts";
import { Board, SHAPES } from "./board.ts";
import type { Spent } from "./spend.ts";

/** How long opening may take, as a multiple of reading and parsing. */
const GOAL = 1.3;
export async function measureOpening(served: SdkSubjects, options: BenchOptions): Promise<Section> {
  const { origin: serverUrl, textOrigin: url, pid } = served;
  const board = await Board.create(served);
  await board.fill();
  await fetch(url, { method: "PUT", body: JSON.stringify(await board.read()) });
  const token = await board.createUser("Ada");
  const application = fork(path.join(import.meta.dirname, "application.ts"), { execArgv: ["--expose-gc"] });
  const read = { type: "read", url } as const;
  const ask = async (task: Task): Promise<Spent> => {
    const answered = once(application, "message", { signal: options.stop });
    application.send(task);
    const [{ spent, entries }] = (await answered) as [Outcome];
    if (entries !== SHAPES) throw new Error(`The application has found ${entries} entries`);
    return spent;
  };
  // An idle application gives back memory, and reading costs it half more afterwards. Each run, the floor's as well,
  // follows a read that does not count.
  const run = async (task: Task): Promise<Spent> => {
    await calm(pid, options.stop);
    await ask(read);
    return ask(task);
  };
  try {
    const open = { type: "open", serverUrl, token } as const;
    const subjects = [
      { name: "opened", task: open },
      { name: "reading", task: read },
    ];
    const measured = await inTurns(subjects, options, ({ task }) => run(task));
    return describe(measured.slice(0, -1), measured.at(-1)?.runs ?? []);
  } finally {
    application.kill();
  }
}

function describe(opened: readonly Measured<Spent>[], reading: readonly Spent[]): Section {
  const rowOf = ({ name, runs }: Measured<Spent>, what: string, figure: (run: Spent) => number) => {
    const [opening, floor] = [medianOf(runs, figure), medianOf(reading, figure)];
    const cells = [opening.toFixed(0), floor.toFixed(0), ratio(opening / floor)];
    return [`${name}: ${what}`, ...cells, `≤ ${GOAL}`, verdict(opening <= floor * GOAL)];
  };
  const head = ["a store of 10,000 entries of 1 KB (ms)", "opened", "read and parsed", "ratio", "goal", "ok"];
  const rows = opened.flatMap((subject) => [
    rowOf(subject, "time", ({ ms }) => ms),
    rowOf(subject, "the application's processor time", ({ processorMs }) => processorMs),
  ]);
  return { markdown: table(head, rows), raw: { opened, reading } };
}
