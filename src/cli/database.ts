/** Changes a D1 database on this machine or on Cloudflare, and makes its tables. */

import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Results, Database as ServiceDatabase, Statement } from "../platform/d1/d1.ts";
import { CommandError } from "./process/command.ts";
import { ROOT, spawnSupervised } from "./process/supervisor.ts";
import { CONFIG, runWrangler } from "./process/wrangler.ts";

/** The default state folder, also that of `wrangler dev`. */
export const DEFAULT_PERSIST_TO = path.join(ROOT, ".wrangler/state");

/** A local database is identified by its state folder, and one beside the directory by its binding. */
export type Database = LocalDatabase | { readonly binding?: string; readonly kind: "remote" };

interface LocalDatabase {
  readonly binding?: string;
  readonly kind: "local";
  readonly persistTo: string;
}

const BINDING = "DB";
export const bindingOf = ({ binding = BINDING }: Database): string => binding;

export const isDirectory = (database: Database): boolean => bindingOf(database) === BINDING;

/** The bindings of the service's databases, such as `DB_2`, the directory first. */
export async function listBindings(kind: Database["kind"]): Promise<string[]> {
  if (kind === "remote") return (await configureRemote()).map(({ binding }) => binding);
  const settings = await readFile(CONFIG, "utf8");
  return [...settings.matchAll(/^binding = "(DB(?:_\d+)?)"/gm)].map(([, binding = ""]) => binding).sort();
}

/** Writes the deployment's configuration for wrangler, and returns its databases. A start needs no part of it. */
async function configureRemote() {
  const { writeDeploymentConfig } = await import("./deployment-config.ts");
  return (await writeDeploymentConfig()).d1_databases ?? [];
}

const LOCAL_DATABASE = path.join(import.meta.dirname, "local-database.ts");

const flagsOf = (database: Database): string[] =>
  database.kind === "local"
    ? ["--local", "--persist-to", database.persistTo, "--config", CONFIG]
    : ["--remote"];

/** The name of a local database's file, as wrangler takes it from wrangler.toml. */
async function localIdOf(binding: string): Promise<string> {
  const settings = await readFile(CONFIG, "utf8");
  const [, id] =
    new RegExp(`^binding = "${binding}"[^[]*?^preview_database_id = "([^"]+)"`, "m").exec(settings) ?? [];
  if (id === undefined) throw new CommandError(`wrangler.toml has no preview_database_id for ${binding}.`);
  return id;
}

/** The text as a SQL string literal. The doubled quote is the only escape that SQLite knows there. */
const quoteSql = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A statement with its values in the place of their placeholders, which nothing else in it looks like. */
const withValues = ({ sql, params }: Statement): string => {
  const [first = "", ...rest] = sql.split("?");
  return first + rest.map((text, index) => sqlOf(params[index]) + text).join("");
};

const sqlOf = (value: unknown): string =>
  typeof value === "number" ? String(value) : value === null ? "NULL" : quoteSql(String(value));

/** The database as the service's own queries see it. */
export const databasePort = (database: Database, stop: AbortSignal): ServiceDatabase => ({
  async run(statements) {
    const rows = await executeOnTables(database, statements, stop);
    return rows as unknown as Results<typeof statements>;
  },
});

const failedWith = (error: unknown, reason: string): boolean =>
  error instanceof CommandError && error.message.includes(reason);

export type Rows = readonly Readonly<Record<string, string | number | null>>[];

/** Runs all statements or none, and returns the rows of each. The process list shows the statements on Cloudflare. */
export async function execute(
  database: Database,
  statements: readonly string[],
  stop: AbortSignal,
): Promise<readonly Rows[]> {
  if (database.kind === "local") return executeLocally(database, statements, stop);
  await configureRemote();
  const command = ["d1", "execute", bindingOf(database), "--remote", "--yes", "--json", "--command"];
  const json = await runWrangler([...command, statements.join("; ")], stop);
  return (JSON.parse(json) as { results: Rows }[]).map(({ results }) => results);
}

/** Request to `local-database.ts`, a process of its own: a command that is killed leaves no runtime behind. */
export interface LocalRequest {
  readonly persistTo: string;
  readonly id: string;
  readonly statements: readonly string[];
}

/** The rows of each statement, or none and the reason why all of them failed. */
export interface LocalAnswer {
  readonly rows: readonly Rows[];
  readonly reason?: string;
}

/** Miniflare opens the file in half of the time that wrangler takes. */
async function executeLocally(
  database: LocalDatabase,
  statements: readonly string[],
  stop: AbortSignal,
): Promise<readonly Rows[]> {
  const id = await localIdOf(bindingOf(database));
  const options = { output: "inherit", endedBy: "SIGTERM" } as const;
  const { child, ended } = spawnSupervised([LOCAL_DATABASE], options, stop);
  let answer: LocalAnswer = { rows: [], reason: "its process ended early" };
  child.once("message", (message: LocalAnswer) => {
    answer = message;
  });
  child.send({ persistTo: database.persistTo, id, statements } satisfies LocalRequest);
  await ended;
  stop.throwIfAborted();
  if (answer.reason !== undefined) throw new CommandError(`The local database failed: ${answer.reason}`);
  return answer.rows;
}

/** Whether there is no database in the state folder yet. */
export const isNew = (database: Database): boolean =>
  database.kind === "local" && !existsSync(path.join(database.persistTo, "v3/d1"));

/** Applies the migrations that the directory and the databases beside it do not have yet. */
export async function applyMigrations(database: Database, stop: AbortSignal): Promise<void> {
  for (const binding of await listBindings(database.kind)) await applyTo({ ...database, binding }, stop);
}

async function applyTo(database: Database, stop: AbortSignal): Promise<void> {
  if ((await executeOnNewTables(database, [], stop)) === null) await applyOneByOne(database, stop);
}

/** wrangler starts the runtime anew for each migration on this machine. */
const applyOneByOne = (database: Database, stop: AbortSignal): Promise<string> =>
  runWrangler(["d1", "migrations", "apply", bindingOf(database), ...flagsOf(database)], stop);

/** Like `execute`, but makes all tables in the same transaction. Returns null if there are tables already. */
async function executeOnNewTables(
  database: Database,
  statements: readonly string[],
  stop: AbortSignal,
): Promise<readonly Rows[] | null> {
  if (database.kind === "remote") return null;
  try {
    const rows = await execute(database, [...(await planTables()), ...statements], stop);
    return rows.slice(rows.length - statements.length);
  } catch (error) {
    if (failedWith(error, "already exists")) return null;
    throw error;
  }
}

/** Runs all statements or none, and returns the rows of each. The tables of a new local database are created first. */
export async function executeOnTables(
  database: Database,
  planned: readonly Statement[],
  stop: AbortSignal,
): Promise<readonly Rows[]> {
  const statements = planned.map(withValues);
  const made = isNew(database) ? await executeOnNewTables(database, statements, stop) : null;
  if (made !== null) {
    const others = (await listBindings(database.kind)).filter((binding) => binding !== bindingOf(database));
    for (const binding of others) await applyTo({ ...database, binding }, stop);
    return made;
  }
  try {
    return await execute(database, statements, stop);
  } catch (error) {
    if (database.kind === "remote" || !failedWith(error, "no such table")) throw error;
    await applyMigrations(database, stop);
    return execute(database, statements, stop);
  }
}

const FOLDER = path.join(ROOT, "migrations");

/** Wrangler's table of applied migrations. */
const APPLIED = "d1_migrations";
const CREATE_APPLIED =
  `CREATE TABLE ${APPLIED}(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, ` +
  "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/** Selects the names of a database's tables, without those of SQLite, D1 and wrangler. */
export const SELECT_TABLES =
  `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '${APPLIED}' ` +
  "AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 4) <> '_cf_'";

/** The names of the migrations, in the order in which they are applied. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(FOLDER);
  return files.filter((file) => file.endsWith(".sql")).sort();
}

/** Wrangler's work, migration by migration. The first statement fails if wrangler has applied any of them. */
async function planTables(): Promise<string[]> {
  const names = await listMigrations();
  const files = await Promise.all(names.map((name) => readFile(path.join(FOLDER, name), "utf8")));
  // A file may end with a comment, which a line break ends.
  const statements = files.map((sql) => `${sql.trim().replace(/;$/, "")}\n`);
  const rows = names.map((name) => `(${quoteSql(name)})`);
  return [CREATE_APPLIED, ...statements, `INSERT INTO ${APPLIED} (name) VALUES ${rows.join(", ")}`];
}
