/** Begins or cancels the move of an organization to another database, in the directory: the cron trigger makes it. */
import { insertOperatorEntry } from "./audit-store.ts";
import { type Database, executeOnTables, listBindings, quoteSql } from "./database.ts";
import { CommandError, UsageError } from "./process/command.ts";

/** Where an organization is; `phase` is null unless it is on its way. */
export interface ShownMove {
  readonly database: string;
  readonly phase: string | null;
}

/**
 * Begins a move to the database with this binding, or cancels one from there that has not been completed. Says where the
 * organization is then. Does nothing to a move in the same direction.
 */
export async function moveOrganization(
  database: Database,
  accountId: string,
  to: string,
  stop: AbortSignal,
): Promise<ShownMove> {
  const bindings = await listBindings();
  if (!bindings.includes(to))
    throw new UsageError(`${to} is no database of wrangler.toml: it has ${bindings.join(", ")}.`);
  const [id, target, now] = [quoteSql(accountId), quoteSql(to), Date.now()];
  const entryOf = (operation: string) =>
    insertOperatorEntry(accountId, operation, "organization", { to }, { inDirectory: true, ifChanged: true });
  const results = await executeOnTables(
    database,
    [
      `UPDATE moves SET phase = 'cancelled', step = 0, cursor = NULL, turn = max(turn + 1, ${now})
       WHERE account_id = ${id} AND source = ${target} AND phase IN ('copying', 'comparing')`,
      entryOf("cancelMove"),
      `INSERT INTO moves (account_id, source, target, phase, step, turn, started_at)
       SELECT id, database, ${target}, 'copying', 0, 0, ${now} FROM accounts
       WHERE id = ${id} AND deleted_at IS NULL AND database <> ${target}
         AND NOT EXISTS (SELECT 1 FROM restores WHERE account_id = ${id})
       ON CONFLICT (account_id) DO NOTHING`,
      entryOf("moveOrganization"),
      `SELECT accounts.database, moves.phase FROM accounts LEFT JOIN moves ON moves.account_id = accounts.id
       WHERE accounts.id = ${id} AND accounts.deleted_at IS NULL`,
    ],
    stop,
  );
  const [row] = results.at(-1) ?? [];
  if (row === undefined)
    throw new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);
  return { database: String(row.database), phase: row.phase == null ? null : String(row.phase) };
}
