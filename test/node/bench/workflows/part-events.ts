/** Events run per second, from the request that causes each to the record of its run. */
import { createUsers } from "../events/burst.ts";
import { median } from "../load.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, table } from "../table.ts";
import type { Automation } from "./automation.ts";

/** A burst takes some seconds. */
const USERS = 200;
const SCENES = [
  { name: "1 room", rooms: 1 },
  { name: "100 rooms", rooms: 100 },
];

export async function measureEvents(automation: Automation, options: BenchOptions): Promise<Section> {
  const measured: { name: string; runs: number[] }[] = [];
  for (const { name, rooms: roomCount } of SCENES) {
    const rooms: string[] = [];
    for (let room = 0; room < roomCount; room += 1) {
      rooms.push(await automation.organization.createRoom(`Room ${room}`));
    }
    const runs: number[] = [];
    for (let run = 0; run < options.runs; run += 1) {
      await automation.prepare(["user.created"]);
      const startedAt = performance.now();
      await createUsers(automation, { rooms, users: USERS }, options.stop);
      const endedAt = await automation.recorded(USERS, options.stop);
      runs.push((USERS * 1000) / (endedAt - startedAt));
      await automation.remove();
    }
    measured.push({ name, runs });
  }
  const rows = measured.map(({ name, runs }) => [name, count(median(runs))]);
  return { markdown: table(["users created in", "runs/s that are recorded"], rows), raw: { measured } };
}
