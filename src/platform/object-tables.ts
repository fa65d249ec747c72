/** The tables of a Durable Object's SQLite database: created when first needed, and migrated by the version that opens them. */

/** A step from one version of a schema to the next. */
export interface Migration {
  /** The version that it leads to. */
  readonly version: number;
  /** The table that it changes: a database without it has nothing to migrate. */
  readonly table: string;
  /** Makes room for the table's present form; empty if nothing is in its way. */
  readonly before: string;
  /** Fills it; empty if nothing has to be. */
  readonly after: string;
}

export interface Schema {
  /** By a table's name, what creates it with its indexes and triggers, unless they exist; {@link FACTS} is one of them. */
  readonly tables: Readonly<Record<string, string>>;
  /** In the order of their versions; a database without a number has the first version. */
  readonly migrations: readonly Migration[];
}

/** Facts by their names; the mechanism's own is `schema`, the version of the database. */
export const FACTS = {
  facts: `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`,
} as const;

/** What this uses of the object's storage. */
interface Storage extends Pick<DurableObjectStorage, "transactionSync"> {
  readonly sql: Pick<SqlStorage, "exec">;
}

const versionOf = ({ migrations }: Schema): number => migrations.at(-1)?.version ?? 1;

/** Creates the tables that are missing, in the present version. */
export function createTables({ sql }: Pick<Storage, "sql">, schema: Schema): void {
  sql.exec(Object.values(schema.tables).join("\n"));
  sql.exec("INSERT OR REPLACE INTO facts VALUES ('schema', ?)", String(versionOf(schema)));
}

/**
 * Whether the database has the tables. Brings one of an earlier version to the present one, all of it or nothing. One
 * of a later version, which a deployment that was rolled back has left, keeps its number: each version is made so that
 * the one before it can go on with it.
 */
export function openTables(storage: Storage, schema: Schema): boolean {
  const names = Object.keys(schema.tables);
  const found = findTables(storage, names);
  if (found.size === 0) return false;
  const version = found.has("facts") ? readVersion(storage) : 1;
  const present = versionOf(schema);
  if (version > present || (version === present && found.size === names.length)) return true;
  const steps = schema.migrations.filter((step) => step.version > version && found.has(step.table));
  storage.transactionSync(() => {
    for (const { before } of steps) if (before !== "") storage.sql.exec(before);
    createTables(storage, schema);
    for (const { after } of steps) if (after !== "") storage.sql.exec(after);
  });
  return true;
}

function findTables({ sql }: Storage, names: readonly string[]): ReadonlySet<string> {
  const query = `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (${names.map(() => "?").join()})`;
  return new Set(
    sql
      .exec<{ name: string }>(query, ...names)
      .toArray()
      .map(({ name }) => name),
  );
}

function readVersion({ sql }: Storage): number {
  const query = "SELECT value FROM facts WHERE name = 'schema'";
  return Number(sql.exec<{ value: string }>(query).toArray()[0]?.value ?? 1);
}
