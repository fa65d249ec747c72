/** The delay that one receiver that never answers causes for ninety-nine others. */
import { median } from "../load.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { ratio, table, verdict } from "../table.ts";
import { burst, percentile } from "./burst.ts";
import type { Stage } from "./stage.ts";

const WEBHOOKS = 100;
const USERS = 10;
/** The maximum ratio to the delay without it. */
const GOAL = 1.1;

export async function measureHanging(stage: Stage, options: BenchOptions): Promise<Section> {
  const rooms = [await stage.organization.createRoom("The room")];
  const ends: (() => Promise<void>)[] = [];
  for (let webhook = 1; webhook < WEBHOOKS; webhook += 1) {
    ends.push(await stage.listen(`well-${webhook}`, ["user.created"]));
  }
  const tell = async () => {
    const { delaysMs } = await burst(stage, { rooms, users: USERS, listeners: WEBHOOKS - 1 }, options.stop);
    return percentile(delaysMs, 0.95);
  };
  const tellWithHanging = async () => {
    const end = await stage.listen("hang", ["user.created"]);
    const p95 = await tell();
    await end();
    return p95;
  };
  await tell();
  const [without, hanging]: [number[], number[]] = [[], []];
  for (let run = 0; run < options.runs; run += 1) {
    without.push(await tell());
    hanging.push(await tellWithHanging());
  }
  for (const end of ends) await end();
  const share = median(hanging) / median(without);
  const rows = [
    [`${WEBHOOKS - 1} receivers that answer`, median(without).toFixed(0), "", "", ""],
    ["and one that hangs", median(hanging).toFixed(0), ratio(share), `≤ ${GOAL}`, verdict(share <= GOAL)],
  ];
  const head = ["p95 from a request to an arrival (ms)", "ms", "of that without", "goal", "ok"];
  return { markdown: table(head, rows), raw: { without, hanging } };
}
