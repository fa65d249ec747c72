/** The access bench: cost of deciding the access of an identity in many groups to a room with many entries. */

import { decideAccess } from "@atrium/contract/resources/permissions.ts";
import { type SQL, sql } from "drizzle-orm";
import { accessAsJson, parseAccess } from "../../../src/features/access/statements.ts";
import { deleteEntries, isDifferent, selectPage, upsertEntries } from "../../../src/features/access/store.ts";
import { type Statement, statement } from "../../../src/platform/d1/d1.ts";
import { measureLive } from "./access-live.ts";
import { isWanted, reportOf } from "./parts.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Database, serving } from "./serve.ts";
import { count, table } from "./table.ts";

const ACCOUNT = "organization";
const [ROOMS, ENTRIES, GROUPS, MEMBERSHIPS] = [200, 1_000, 500, 200];
const RUNS = 15;
/** The room and the identity of the control: nothing but a default decides. */
const [PLAIN, LONE, BUSY] = ["plain", "lone", "busy"];
const LIMIT_MS = 2;

export const bench: Bench = { parts: ["decision", "live"], run };

const NAMED = "(account_id, id, name, name_folded, created_at) SELECT ?1,";
const IDENTITY = "(account_id, id, kind, name, name_folded, created_at) SELECT ?1,";
const EACH = "FROM json_each(?2)";

/** Statements that insert a row for each number from 0 on, and how many. */
const SEEDS: readonly (readonly [sql: string, rows: number])[] = [
  [`INSERT INTO accounts (id, name, created_at) SELECT ?1, 'A', value ${EACH}`, 1],
  [
    `INSERT INTO rooms (account_id, id, name, name_folded, created_at, state) SELECT ?1, iif(value, 'room ' || value, '${PLAIN}'), 'R', 'R', 0, 'active' ${EACH}`,
    ROOMS + 1,
  ],
  [`INSERT INTO identities ${IDENTITY} 'identity ' || value, 'person', 'I', 'I', 0 ${EACH}`, ENTRIES],
  [`INSERT INTO identities ${IDENTITY} iif(value, '${BUSY}', '${LONE}'), 'person', 'I', 'I', 0 ${EACH}`, 2],
  [`INSERT INTO identity_groups ${NAMED} 'group ' || value, 'G', 'G', 0 ${EACH}`, GROUPS],
  [`INSERT INTO group_members SELECT ?1, 'group ' || value, '${BUSY}', 0 ${EACH}`, MEMBERSHIPS],
  [`INSERT INTO room_access SELECT ?1, '${PLAIN}', 'default', '', '["*:read"]' ${EACH}`, 1],
  ...Array.from(
    { length: ROOMS },
    (_, at) =>
      [
        `INSERT INTO room_access SELECT ?1, 'room ${at + 1}', iif(value < ${GROUPS}, 'group', 'identity'), iif(value < ${GROUPS}, 'group ', 'identity ') || value, '["*:read","comments:write"]' ${EACH}`,
        ENTRIES,
      ] as const,
  ),
];

async function seed(db: Database): Promise<void> {
  for (const [sql, rows] of SEEDS) {
    const values = JSON.stringify(Array.from({ length: rows }, (_, at) => at));
    await db.prepare(sql).bind(ACCOUNT, values).run();
  }
}

/** Cost of a batch: milliseconds by the database's clock, and rows read. */
interface Cost {
  readonly ms: number;
  readonly rowsRead: number;
}

async function costOf(db: Database, statements: readonly Statement[]): Promise<Cost> {
  const results = await db.batch(statements.map(({ sql, params }) => db.prepare(sql).bind(...params)));
  const metas = results.map(({ meta }) => meta);
  return {
    ms: metas.reduce((sum, { duration }) => sum + duration, 0),
    rowsRead: metas.reduce((sum, { rows_read }) => sum + rows_read, 0),
  };
}

/** Reads the access in a room once per room in one statement, since that clock has whole milliseconds. */
const readAccess = (roomId: SQL, identityId: string): Statement => {
  const numbers = JSON.stringify(Array.from({ length: ROOMS }, (_, at) => at + 1));
  return statement`SELECT sum(length(${accessAsJson(ACCOUNT, sql`rooms.id`, identityId)}))
      FROM json_each(${numbers}) CROSS JOIN rooms
      WHERE rooms.account_id = ${ACCOUNT} AND rooms.id = ${roomId}`;
};

/** Milliseconds that the Worker takes to decide on the rows that it has read. */
async function decisionMs(db: Database): Promise<number> {
  const { sql, params } = statement`SELECT ${accessAsJson(ACCOUNT, "room 1", BUSY)} AS access`;
  const access =
    (await db
      .prepare(sql)
      .bind(...params)
      .first<string>("access")) ?? "";
  const startedAt = performance.now();
  for (let run = 0; run < ROOMS; run += 1) decideAccess(parseAccess(access));
  return (performance.now() - startedAt) / ROOMS;
}

const medianOf = (costs: readonly Cost[]): number =>
  costs.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? 0;

async function run(options: BenchOptions): Promise<BenchReport> {
  const sections: Record<string, Section> = {};
  if (isWanted(options, "decision")) sections.decision = await measureDecision(options);
  if (isWanted(options, "live"))
    sections.live = await serving(["fleet"], options.stop, (served) => measureLive(served, options));
  return reportOf(sections);
}

function measureDecision({ stop, progress }: BenchOptions): Promise<Section> {
  return serving(["refusing"], stop, async ({ db }) => {
    progress(`Giving ${count(ROOMS)} rooms ${count(ENTRIES)} entries each`);
    await seed(db);
    const tenant = { accountId: ACCOUNT, db: { run: () => Promise.reject(new Error("Not used")) } };
    const page = { limit: 50, offset: 0, search: "", from: 0, to: 0 };
    const change = (size: number, run: number) => {
      const changes = Array.from({ length: size }, (_, at) => {
        const subjectId = `identity ${at}`;
        return { kind: "identity", subjectId, permissions: [run % 2 === 0 ? "*:read" : "*:write"] } as const;
      });
      return [
        statement`SELECT 1 WHERE ${isDifferent(tenant, "room 1", changes)}`,
        upsertEntries(tenant, "room 1", changes),
        deleteEntries(tenant, "room 1", changes),
      ];
    };
    const decide = `${count(ENTRIES)} entries, ${MEMBERSHIPS} groups of the identity`;
    const subjects: readonly (readonly [
      what: string,
      make: (run: number) => readonly Statement[],
      times: number,
    ])[] = [
      ["control: only a default", () => [readAccess(sql`iif(value, ${PLAIN}, '')`, LONE)], ROOMS],
      [decide, () => [readAccess(sql`'room ' || value`, BUSY)], ROOMS],
      ["a page of 50 entries", () => [selectPage(tenant, "room 1", page)], 1],
      ["a change of one entry", (run) => change(1, run), 1],
      [`a change of ${count(ENTRIES)} entries`, (run) => change(ENTRIES, run), 1],
    ];
    const rows: string[][] = [];
    const medians = new Map<string, number>();
    for (const [what, make, times] of subjects) {
      progress(what);
      const costs: Cost[] = [];
      for (let run = 0; run < RUNS; run += 1) costs.push(await costOf(db, make(run)));
      const ms = medianOf(costs) / times;
      medians.set(what, ms);
      rows.push([what, ms.toFixed(3), count((costs[0]?.rowsRead ?? 0) / times)]);
    }
    const inWorker = await decisionMs(db);
    const total = (medians.get(decide) ?? 0) + inWorker;
    const verdict = `With ${inWorker.toFixed(3)} ms of the Worker, ${total.toFixed(2)} of ${LIMIT_MS} ms to decide: ${total <= LIMIT_MS ? "met" : "not met"}.`;
    const markdown = [table(["In the database", "Median ms", "Rows read"], rows), verdict].join("\n\n");
    return { markdown, raw: { ...Object.fromEntries(medians), inWorker } };
  });
}
