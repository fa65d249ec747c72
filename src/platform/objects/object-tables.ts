/** The tables of a Durable Object's SQLite database: created when first needed, and migrated by the version that opens them. */
import { beingRestored } from "./rpc.ts";

/** A step from one version of a schema to the next. */
interface Migration {
  readonly version: number;
  readonly table: string;
  /** Makes room for the table's present form; empty if nothing is in its way. */
  readonly before: string;
  /** Fills it; empty if nothing has to be. */
  readonly after: string;
}

export interface Schema {
  /** Idempotent statements by table; {@link FACTS} is one of them. */
  readonly tables: Readonly<Record<string, string>>;
  /** Migrations in the order of their versions. A database without a number has the first version. */
  readonly migrations: readonly Migration[];
}

/** Facts by their names; the mechanism's own is `schema`, the version of the database. */
export const FACTS = {
  facts: `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`,
} as const;

/** The fact of a restored object: numbers up to this one may be known outside, also of changes that it lost. */
export const RESTORED_SEQ = "restored seq";

interface Storage extends Pick<DurableObjectStorage, "transactionSync"> {
  readonly sql: Pick<SqlStorage, "exec">;
}

export const versionOf = ({ migrations }: Schema): number => migrations.at(-1)?.version ?? 1;

/** Creates the tables that are missing, in the present version. Throws while the database is being restored. */
export function createTables({ sql }: Pick<Storage, "sql">, schema: Schema): void {
  if (findTables({ sql }, [RESTORING_TABLE]).size > 0) throw beingRestored();
  sql.exec(Object.values(schema.tables).join("\n"));
  sql.exec("INSERT OR REPLACE INTO facts VALUES ('schema', ?)", String(versionOf(schema)));
}

/**
 * False without tables or during a restore. Migrates an earlier version at once; a later one keeps its
 * number, since it works with this code.
 */
export function openTables(storage: Storage, schema: Schema): boolean {
  const names = Object.keys(schema.tables);
  const known = findTables(storage, [...names, CHANGES_TABLE, RESTORING_TABLE]);
  if (known.has(RESTORING_TABLE)) return false;
  if (known.has(CHANGES_TABLE)) dropChanges(storage.sql); // these changes belong to an archive that ended with the object's last life
  const found = names.filter((name) => known.has(name));
  if (found.length === 0) return false;
  const version = readVersion(storage);
  const present = versionOf(schema);
  if (version > present || (version === present && found.length === names.length)) return true;
  const steps = schema.migrations.filter((step) => step.version > version && known.has(step.table));
  storage.transactionSync(() => {
    for (const { before } of steps) if (before !== "") storage.sql.exec(before);
    createTables(storage, schema);
    for (const { after } of steps) if (after !== "") storage.sql.exec(after);
  });
  return true;
}

/** Tables of an object that stores nothing before its first write; until then, reads find nothing. */
export class ObjectTables {
  protected readonly storage: Storage;
  readonly #schema: Schema;
  #exist: boolean;

  constructor(storage: Storage, schema: Schema) {
    this.storage = storage;
    this.#schema = schema;
    this.#exist = openTables(storage, schema);
  }

  /** The database was replaced. */
  reopen(): void {
    this.#exist = openTables(this.storage, this.#schema);
  }

  /** False before the first write, and while the database is being restored. */
  get exists(): boolean {
    return this.#exist;
  }

  /** Creates the tables; false if they exist. */
  create(): boolean {
    if (this.#exist) return false;
    createTables(this.storage, this.#schema);
    this.#exist = true;
    return true;
  }

  /** The whole database is about to be deleted. */
  protected forgetTables(): void {
    this.#exist = false;
  }

  *iterate<Row extends object>(query: string, ...params: SqlStorageValue[]): Iterable<Row> {
    if (this.#exist) yield* this.storage.sql.exec(query, ...params) as unknown as Iterable<Row>;
  }

  read<Row extends object>(query: string, ...params: SqlStorageValue[]): Row[] {
    return [...this.iterate<Row>(query, ...params)];
  }

  first<Row extends object>(query: string, ...params: SqlStorageValue[]): Row | null {
    return this.read<Row>(query, ...params)[0] ?? null;
  }

  /** Does nothing while there are no tables. */
  write(query: string, ...params: SqlStorageValue[]): void {
    if (this.#exist) this.storage.sql.exec(query, ...params);
  }

  transaction<T>(work: () => T): T {
    const existed = this.#exist;
    try {
      return this.storage.transactionSync(work);
    } catch (error) {
      this.#exist = existed; // tables are rolled back like rows
      throw error;
    }
  }
}

function findTables({ sql }: Pick<Storage, "sql">, names: readonly string[]): ReadonlySet<string> {
  const query = `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (${names.map(() => "?").join()})`;
  return new Set(
    sql
      .exec<{ name: string }>(query, ...names)
      .toArray()
      .map(({ name }) => name),
  );
}

export function readVersion(storage: Pick<Storage, "sql">): number {
  const { sql } = storage;
  if (findTables(storage, ["facts"]).size === 0) return 1;
  const query = "SELECT value FROM facts WHERE name = 'schema'";
  return Number(sql.exec<{ value: string }>(query).toArray()[0]?.value ?? 1);
}

/** Names the reading that the database is restored from. The database is closed until that is complete. */
export const RESTORING_TABLE = "restoring_archive";

/** The rows that were changed since an archive began, each once: `key` is the primary key as a JSON array. */
export const CHANGES_TABLE = "archive_changes";
/** Begins the names of the triggers that fill {@link CHANGES_TABLE}. */
export const CHANGES_TRIGGER = "archive_noted";

/** Notes changes no longer, and forgets those that it has noted. */
export function dropChanges(sql: Pick<SqlStorage, "exec">): void {
  const query = `SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '${CHANGES_TRIGGER}%'`;
  for (const { name } of sql.exec<{ name: string }>(query).toArray()) sql.exec(`DROP TRIGGER "${name}"`);
  sql.exec(`DROP TABLE IF EXISTS ${CHANGES_TABLE}`);
}
