/** The D1 database as the commands reach it: through wrangler, on this machine or at Cloudflare, with the same code. */
import path from "node:path";
import { CommandError } from "./command.ts";
import { ROOT, runWrangler } from "./service/wrangler.ts";

/** Where `wrangler dev` keeps its data unless told otherwise. */
export const DEFAULT_PERSIST_TO = path.join(ROOT, ".wrangler/state");

/** A local database is named by the directory that `wrangler dev --persist-to` is given. */
export type Database = { readonly kind: "local"; readonly persistTo: string } | { readonly kind: "remote" };

const BINDING = "DB";
const MAX_ATTEMPTS = 5;

const flagsOf = (database: Database): string[] =>
  database.kind === "local"
    ? ["--local", "--persist-to", database.persistTo]
    : ["--remote", "--env", "production"];

/** A SQL string literal. SQLite knows no escape inside it but the doubled quote. */
export const quoteSql = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Brings the tables up to date; does nothing to those that already are. */
export const applyMigrations = (database: Database, stop: AbortSignal): Promise<void> =>
  runWrangler(["d1", "migrations", "apply", BINDING, ...flagsOf(database)], stop);

const failedWith = (error: unknown, reason: string): boolean =>
  error instanceof CommandError && error.message.includes(reason);

/**
 * Runs statements, all or none. They must hold nothing secret: they are visible in the process list meanwhile.
 * A file of them is no way out, since D1 blocks the whole database while it imports one.
 */
async function execute(database: Database, statements: readonly string[], stop: AbortSignal): Promise<void> {
  const sql = statements.join("; ");
  for (let attempt = 1; ; attempt++) {
    try {
      await runWrangler(["d1", "execute", BINDING, ...flagsOf(database), "--yes", "--command", sql], stop);
      return;
    } catch (error) {
      // Local processes that write in the same millisecond do not wait for each other: one of them fails.
      if (attempt === MAX_ATTEMPTS || !failedWith(error, "SQLITE_BUSY")) throw error;
    }
  }
}

/** As `execute`; a local database that was never used gets its tables first. */
export async function executeOnTables(
  database: Database,
  statements: readonly string[],
  stop: AbortSignal,
): Promise<void> {
  try {
    await execute(database, statements, stop);
  } catch (error) {
    if (database.kind === "remote" || !failedWith(error, "no such table")) throw error;
    await applyMigrations(database, stop);
    await execute(database, statements, stop);
  }
}
