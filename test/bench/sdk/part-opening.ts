/** How long it takes to open a large store, next to reading and parsing its JSON. */
import { AtriumClient } from "../../../src/sdk/client/index.ts";
import { AtriumServer } from "../../../src/sdk/server/index.ts";
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table, verdict } from "../table.ts";

const STORE = "shapes";
const ENTRIES = 10_000;
const ENTRY_BYTES = 1_000;
const BATCH = 500;
/** How long opening may take, as a multiple of reading and parsing. */
const GOAL = 1.3;

interface Run {
  readonly ms: number;
  /** Processor time of this process, which is the application's. */
  readonly processorMs: number;
}

export async function measureOpening(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const { organization, origin, textOrigin, pid } = subjects;
  const roomId = await organization.createRoom("The room");
  const token = await organization.createUser("Ada", roomId);
  const authorization = Buffer.from(
    organization.headers.Authorization?.slice("Bearer ".length) ?? "",
    "base64",
  );
  const [accountId = "", apiKey = ""] = authorization.toString().split(":");
  const server = new AtriumServer({ serverUrl: origin, accountId, apiKey });
  await fill(server, roomId);
  const { entries } = await server.stores.getAll(roomId, STORE);
  await fetch(textOrigin, { method: "PUT", body: JSON.stringify(entries) });

  const open = async (): Promise<Run> => {
    const client = new AtriumClient({ serverUrl: origin, authToken: token });
    await client.join();
    await calm(pid, options.stop);
    const run = await timed(() => client.store(STORE).sync());
    const opened = Object.keys(client.store(STORE).getAll()).length;
    if (opened !== ENTRIES) throw new Error(`The store has ${opened} entries`);
    client.disconnect();
    return run;
  };
  const read = async (): Promise<Run> => {
    await calm(pid, options.stop);
    return timed(async () => {
      const parsed = (await (await fetch(textOrigin)).json()) as object;
      if (Object.keys(parsed).length !== ENTRIES) throw new Error("The text has other entries");
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
  const rowOf = (what: string, figure: (run: Run) => number): readonly string[] => {
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

async function timed(work: () => Promise<void>): Promise<Run> {
  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(usage);
  return { ms: performance.now() - startedAt, processorMs: (user + system) / 1000 };
}

/** Shapes as a whiteboard has them: some fields, and points. */
async function fill(server: AtriumServer, roomId: string): Promise<void> {
  for (let first = 0; first < ENTRIES; first += BATCH) {
    const operations = Array.from({ length: BATCH }, (_, index) => {
      const value = { type: "draw", x: first, y: index, points: "0123456789".repeat(ENTRY_BYTES / 10 - 8) };
      return { type: "STORE_SET", store: STORE, key: `shape:${first + index}`, value } as const;
    });
    const [response] = await server.stores.batch(roomId, [{ requestId: `${first}`, operations }]);
    if (!response?.success) throw new Error(`Filling the store failed: ${response?.error?.message}`);
  }
}
