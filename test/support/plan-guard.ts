/**
 * Explains every statement that the service runs on D1 while it is tested. One that reads a whole table fails the file
 * that ran it, because its cost grows with the number of organizations; so does one that looks for some IDs among all.
 */
import { env } from "cloudflare:workers";
import { expect } from "vitest";

/** A statement with the values it was run with. */
interface Run {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const runOf = new WeakMap<D1PreparedStatement, Run>();
/** The statements that the service has run, by their SQL, until they are explained. */
const waiting = new Map<string, Run>();
const explained = new Set<string>();

/**
 * Remembers what runs in batches from now on: the service runs nothing in another way, and tests set up by other ones.
 * Returns what ends it and asserts that each of them finds its rows by an index.
 */
export function recordPlans(): () => Promise<void> {
  const database: D1Database = Object.getPrototypeOf(env.DB);
  const statement: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("SELECT 1"));
  const { prepare, batch } = database;
  const { bind } = statement;
  database.prepare = function (query) {
    const prepared = prepare.call(this, query);
    runOf.set(prepared, { sql: query, values: [] });
    return prepared;
  };
  statement.bind = function (...values) {
    const bound = bind.apply(this, values);
    runOf.set(bound, { sql: runOf.get(this)?.sql ?? "", values });
    return bound;
  };
  database.batch = function <T>(statements: D1PreparedStatement[]) {
    for (const each of statements) {
      const run = runOf.get(each);
      if (run !== undefined && !explained.has(run.sql)) waiting.set(run.sql, run);
    }
    return batch.call(this, statements) as Promise<D1Result<T>[]>;
  };
  return async () => {
    Object.assign(database, { prepare, batch });
    Object.assign(statement, { bind });
    await expectNoScans();
  };
}

/** What holds only rows on their way, or none any more: reading all of them is what the statement is for. */
const TRANSIENT =
  /^(?:user_events|moves|fences)(?: |$)|USING (?:COVERING )?INDEX (?:files_unsettled|search_lists_unfinished)$/;

/** Whether a step of a plan reads a whole table, and not the few rows that another step or a list of values has made. */
function isScan(detail: string, sql: string): boolean {
  const [, source = ""] = /^SCAN (.+)$/.exec(detail) ?? [];
  if (
    source === "" ||
    TRANSIENT.test(source) ||
    /^(CONSTANT ROW|\d+-ROW VALUES CLAUSE|\(|.* VIRTUAL TABLE )/.test(source)
  )
    return false;
  const [name] = source.split(" ");
  return !new RegExp(`\\b${name} (\\(\\w+\\) )?AS \\(|\\) AS ${name}\\b`, "i").test(sql);
}

/** Whether rows that are listed by their IDs are looked for among all others of their room or organization. */
const isSieve = (detail: string, sql: string): boolean =>
  detail === "CREATE BLOOM FILTER" && /\b(id|key)"? IN \(\s*SELECT value FROM json_each/i.test(sql);

/** Asserts that each statement that was new finds its rows by an index. */
async function expectNoScans(): Promise<void> {
  const scans: string[] = [];
  for (const { sql, values } of waiting.values()) {
    explained.add(sql);
    const plan = env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values);
    const { results } = await plan.all<{ detail: string }>();
    for (const { detail } of results)
      if (isScan(detail, sql) || isSieve(detail, sql)) scans.push(`${detail} in ${sql}`);
  }
  waiting.clear();
  expect(scans, "reads more than it is asked for").toEqual([]);
}
