/** Event throughput: from one room to one webhook, from one room to many, and from many rooms to one. */
import { median } from "../load.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, table } from "../table.ts";
import { burst } from "./burst.ts";
import type { Stage } from "./stage.ts";

const MANY = 100;
/** A burst takes about a second. */
const SCENES = [
  { name: "1 room to 1 webhook", rooms: 1, listeners: 1, users: 400 },
  { name: `1 room to ${MANY} webhooks`, rooms: 1, listeners: MANY, users: 20 },
  { name: `${MANY} rooms to 1 webhook`, rooms: MANY, listeners: 1, users: 400 },
];

export async function measureThroughput(stage: Stage, options: BenchOptions): Promise<Section> {
  const measured: { name: string; runs: number[] }[] = [];
  for (const { name, rooms: roomCount, listeners, users } of SCENES) {
    const rooms: string[] = [];
    for (let room = 0; room < roomCount; room += 1)
      rooms.push(await stage.organization.createRoom(`Room ${room}`));
    const end: (() => Promise<void>)[] = [];
    for (let listener = 0; listener < listeners; listener += 1) {
      end.push(await stage.listen(`listener-${listener}`, ["user.created"]));
    }
    await burst(stage, { rooms, users: roomCount, listeners }, options.stop); // creates the objects, so that the runs do not
    const runs: number[] = [];
    for (let run = 0; run < options.runs; run += 1) {
      runs.push((await burst(stage, { rooms, users, listeners }, options.stop)).perSecond);
    }
    measured.push({ name, runs });
    for (const remove of end) await remove();
  }
  const rows = measured.map(({ name, runs }) => [name, count(median(runs))]);
  return {
    markdown: table(["users created in", "events/s that arrive"], rows),
    raw: { measured },
  };
}
