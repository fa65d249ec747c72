/** The tables that stand in an object's database only while it is archived or restored, and what follows from them. */

/** The row of this table names the reading that the database is restored from: until that is complete, it is closed. */
export const RESTORING_TABLE = "restoring_archive";

/** The rows that were changed since an archive began, each once: `key` is the primary key as a JSON array. */
export const CHANGES_TABLE = "archive_changes";
/** Begins the names of the triggers that fill {@link CHANGES_TABLE}. */
export const CHANGES_TRIGGER = "archive_noted";

/** What belongs to the platform, or is of the archive itself. */
export const NOT_ARCHIVED = `(name LIKE '\\_cf%' ESCAPE '\\' OR name LIKE 'sqlite%' OR name LIKE '${CHANGES_TRIGGER}%'
  OR name IN ('${CHANGES_TABLE}', '${RESTORING_TABLE}'))`;

/** Notes changes no longer, and forgets those that it has noted. */
export function dropChanges(sql: Pick<SqlStorage, "exec">): void {
  const query = `SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '${CHANGES_TRIGGER}%'`;
  for (const { name } of sql.exec<{ name: string }>(query).toArray()) sql.exec(`DROP TRIGGER "${name}"`);
  sql.exec(`DROP TABLE IF EXISTS ${CHANGES_TABLE}`);
}
