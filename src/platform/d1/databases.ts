/** The databases of a deployment: the one place that opens them, for requests, objects and the cron trigger alike. */

import { AppError } from "@atrium/contract/errors.ts";
import { TtlCache } from "../cache.ts";
import type { WorkBudget } from "../flow/work-budget.ts";
import {
  type Database,
  isFenced,
  openDatabase,
  type Results,
  type Statement,
  type Tenant,
  withoutFirst,
} from "./d1.ts";
import { isElsewhere, requireHere, selectPlacement } from "./placement-store.ts";

export const DIRECTORY = "DB";

/** The databases that a deployment binds: the directory, and `DB_2` and so on, which no type can name. */
export interface DatabaseBindings {
  readonly DB: D1Database;
}

export const PLACEMENT_MEMORY_MS = 10_000;
const MAX_REMEMBERED = 10_000;

const BINDING = /^DB_([2-9]|[1-9]\d+)$/;

interface Known {
  readonly names: readonly string[];
  readonly placements: TtlCache<string>;
}

const known = new WeakMap<DatabaseBindings, Known>();

function knownOf(env: DatabaseBindings): Known {
  const earlier = known.get(env);
  if (earlier !== undefined) return earlier;
  const numberOf = (name: string) => Number(BINDING.exec(name)?.[1]);
  const others = Object.keys(env).filter((name) => BINDING.test(name) && boundAs(env, name) !== undefined);
  const names = [DIRECTORY, ...others.toSorted((a, b) => numberOf(a) - numberOf(b))];
  const placements = new TtlCache<string>({ ttlMs: PLACEMENT_MEMORY_MS, maxEntries: MAX_REMEMBERED });
  known.set(env, { names, placements });
  return { names, placements };
}

const boundAs = (env: DatabaseBindings, name: string): D1Database | undefined =>
  (env as unknown as Readonly<Record<string, D1Database | undefined>>)[name];

const opened = new WeakMap<D1Database, Database>();

/** The same for the same binding, so that two databases can be compared. */
function open(bound: D1Database): Database {
  const database = opened.get(bound) ?? openDatabase(bound);
  opened.set(bound, database);
  return database;
}

function boundOrThrow(env: DatabaseBindings, name: string): D1Database {
  const bound = boundAs(env, name);
  if (bound === undefined || !knownOf(env).names.includes(name))
    throw new Error(`An organization is placed in the database ${name}, which is not bound; bind it again`);
  return bound;
}

const openBinding = (env: DatabaseBindings, name: string): Database => open(boundOrThrow(env, name));

/** Databases for stale reads: one D1 session each, which never goes back in time. */
function nearestIn(env: DatabaseBindings): (name: string) => Database {
  const sessions = new Map<string, Database>();
  return (name) => {
    const session =
      sessions.get(name) ?? openDatabase(boundOrThrow(env, name).withSession("first-unconstrained"));
    sessions.set(name, session);
    return session;
  };
}

/** The same bindings, whose batches spend the invocation's queries. */
export const countingQueries = <Bindings extends DatabaseBindings>(
  env: Bindings,
  queries: WorkBudget,
): Bindings => ({
  ...env,
  ...Object.fromEntries(
    knownOf(env).names.map((name) => [name, countingBatches(boundOrThrow(env, name), queries)]),
  ),
});

const countingBatches = (bound: D1Database, queries: WorkBudget): D1Database =>
  new Proxy(bound, {
    get(target, name) {
      if (name === "batch") queries.spend();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

export const openDirectory = (env: DatabaseBindings): Database => open(env.DB);

export const openAll = (env: DatabaseBindings): ReadonlyMap<string, Database> =>
  new Map(knownOf(env).names.map((name) => [name, openBinding(env, name)]));

/** Looks the organization's database up in the directory, unless memory knows it. */
class PlacedDatabase implements Database {
  readonly #env: DatabaseBindings;
  readonly #accountId: string;
  readonly #open: (name: string) => Database;

  constructor(env: DatabaseBindings, accountId: string, open = (name: string) => openBinding(env, name)) {
    this.#env = env;
    this.#accountId = accountId;
    this.#open = open;
  }

  /** A fenced write means that the organization moved: the directory names its new place. */
  readonly run: Database["run"] = async (statements) => {
    const { names, placements } = knownOf(this.#env);
    let place = placements.get(this.#accountId, Date.now());
    try {
      if (place === undefined && names.length === 1) return await this.#runChecked(statements);
      place ??= await this.#lookUp();
      return await this.#open(place).run(statements);
    } catch (error) {
      if (!isFenced(error)) throw error;
      placements.delete(this.#accountId);
      const present = await this.#lookUp();
      if (present === (place ?? DIRECTORY)) throw isMoving(error);
      return await this.#open(present).run(statements).catch(refuseWhileFenced);
    }
  };

  async #runChecked<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
  ): Promise<Results<T>> {
    const checked = [requireHere(this.#accountId, DIRECTORY), ...statements] as const;
    const results = await this.#open(DIRECTORY)
      .run(checked)
      .catch(async (error: unknown) => {
        if (isElsewhere(error)) boundOrThrow(this.#env, await this.#lookUp());
        throw error;
      });
    if (results[0].length > 0) this.#remember(DIRECTORY);
    return withoutFirst<T>(results, 1);
  }

  /** One that does not exist owns nothing anywhere, and is not remembered. */
  async #lookUp(): Promise<string> {
    const [[row]] = await openDirectory(this.#env).run([selectPlacement(this.#accountId)]);
    if (row === undefined) return DIRECTORY;
    this.#remember(row.database);
    return row.database;
  }

  #remember(place: string): void {
    knownOf(this.#env).placements.set(this.#accountId, place, Date.now());
  }
}

const RETRY_SECONDS = 10;

function isMoving(cause: unknown): AppError {
  const refusal = new AppError(
    "Accounts",
    "RATE_LIMITED",
    "The organization is being moved to another database, and cannot be changed meanwhile; try again later",
    RETRY_SECONDS,
  );
  refusal.cause = cause;
  return refusal;
}

function refuseWhileFenced(error: unknown): never {
  throw isFenced(error) ? isMoving(error) : error;
}

/** The organization's own database, and the directory. */
export interface PlacedTenant extends Tenant {
  readonly directory: Database;
}

/** Opens the nearest replica, for stale reads of one request. */
export const openNearest = (env: DatabaseBindings, accountId: string): Database =>
  new PlacedDatabase(env, accountId, nearestIn(env));

export function openTenant(env: DatabaseBindings, accountId: string): PlacedTenant {
  const db = new PlacedDatabase(env, accountId);
  return { accountId, db, directory: knownOf(env).names.length === 1 ? db : openDirectory(env) };
}
