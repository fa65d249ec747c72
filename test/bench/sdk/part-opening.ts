/** How long it takes to open a large store, next to reading and parsing its JSON. */
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table, verdict } from "../table.ts";
import { Board, SHAPES } from "./board.ts";
import { type Spent, spend } from "./spend.ts";

/** How long opening may take, as a multiple of reading and parsing. */
const GOAL = 1.3;

export async function measureOpening(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const { textOrigin, pid } = subjects;
  const board = await Board.create(subjects);
  await board.fill();
  await fetch(textOrigin, { method: "PUT", body: JSON.stringify(await board.read()) });
  const token = await board.createUser("Ada");

  const open = async (): Promise<Spent> => {
    const client = await board.join(token);
    await calm(pid, options.stop);
    const spent = await spend(() => Board.shapesOf(client).sync());
    const opened = Object.keys(Board.shapesOf(client).getAll()).length;
    if (opened !== SHAPES) throw new Error(`The store has ${opened} entries`);
    client.disconnect();
    return spent;
  };
  const read = async (): Promise<Spent> => {
    await calm(pid, options.stop);
    return spend(async () => {
      const parsed = (await (await fetch(textOrigin)).json()) as object;
      if (Object.keys(parsed).length !== SHAPES) throw new Error("The text has other entries");
    });
  };
  const [opening, reading] = await inTurns(
    [
      { name: "opening", measure: open },
      { name: "reading", measure: read },
    ],
    options,
    ({ measure }) => measure(),
  );
  const rowOf = (what: string, figure: (run: Spent) => number): readonly string[] => {
    const [opened, floor] = [medianOf(opening?.runs ?? [], figure), medianOf(reading?.runs ?? [], figure)];
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
