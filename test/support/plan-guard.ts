/**
 * Explains every statement that the service runs on D1 while it is tested. One that reads a whole table fails the file
 * that ran it, because its cost grows with the number of organizations; so does one that looks for some IDs among all,
 * and one that writes more rows than a slice has, however many a test has put there. The plans are those of any size:
 * D1 keeps no statistics of its tables that SQLite would choose by.
 */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Statement } from "../../src/platform/d1/d1.ts";
import { readsTooMuch } from "./query-plans.ts";

/** A statement with the values it was run with. */
interface Run {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const runOf = new WeakMap<D1PreparedStatement, Run>();
/** Limit above the rows that a slice of the largest rows writes, with index entries and the counts of triggers. */
const MAX_ROWS_WRITTEN = 20_000;
/** The statements that wrote more. */
const unbounded: string[] = [];
/** The statements that the service has run, by their SQL, until they are explained. */
const waiting = new Map<string, Run>();
const explained = new Set<string>();

/**
 * Remembers the batches from now on: the service runs everything in batches, and the setup of tests does not.
 * Returns a function that ends this and asserts that each statement finds its rows by an index.
 */
export function recordPlans(): () => Promise<void> {
  const database: D1Database = Object.getPrototypeOf(env.DB);
  // A database runs its batches by a session, as replicas do.
  const session: D1DatabaseSession = Object.getPrototypeOf(env.DB.withSession());
  const statement: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("SELECT 1"));
  const { batch } = session;
  const { bind } = statement;
  const restored = [database, session].map((opened) => {
    const { prepare } = opened;
    opened.prepare = function (query) {
      const prepared = prepare.call(this, query);
      runOf.set(prepared, { sql: query, values: [] });
      return prepared;
    };
    return () => Object.assign(opened, { prepare });
  });
  statement.bind = function (...values) {
    const bound = bind.apply(this, values);
    runOf.set(bound, { sql: runOf.get(this)?.sql ?? "", values });
    return bound;
  };
  session.batch = async function <T>(statements: D1PreparedStatement[]) {
    const runs = statements.map((each) => runOf.get(each));
    for (const run of runs) if (run !== undefined && !explained.has(run.sql)) waiting.set(run.sql, run);
    const results = (await batch.call(this, statements)) as D1Result<T>[];
    for (const [index, { meta }] of results.entries())
      if (meta.rows_written > MAX_ROWS_WRITTEN)
        unbounded.push(`${meta.rows_written} rows by ${runs[index]?.sql}`);
    return results;
  };
  return async () => {
    for (const restore of restored) restore();
    Object.assign(session, { batch });
    Object.assign(statement, { bind });
    await expectNoScans();
    expect(unbounded.splice(0), "writes more than a slice").toEqual([]);
  };
}

/** The steps by which the database carries out a statement. */
export async function planOf({ sql, params }: Pick<Statement, "sql" | "params">): Promise<string[]> {
  const plan = env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...params);
  return (await plan.all<{ detail: string }>()).results.map(({ detail }) => detail);
}

/** The same of a statement of an object, whatever its values. */
export const planIn = ({ sql }: DurableObjectStorage, statement: string): string[] =>
  sql
    .exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, ...statement.replace(/[^?]/g, ""))
    .toArray()
    .map(({ detail }) => detail);

/** Asserts that each statement that was new finds its rows by an index. */
async function expectNoScans(): Promise<void> {
  const scans: string[] = [];
  for (const { sql, values } of waiting.values()) {
    explained.add(sql);
    for (const step of await planOf({ sql, params: values }))
      if (readsTooMuch(step, sql)) scans.push(`${step} in ${sql}`);
  }
  waiting.clear();
  expect(scans, "reads more than it is asked for").toEqual([]);
}
