/** A database as SQL that D1 imports into an empty one: its schema, its rows, and what follows them. */
import type { Database, Statement } from "../../platform/d1/d1.ts";

/** Tables whose rows stay out: the cron trigger derives the first again, and the others are of this deployment alone. */
const WITHOUT_ROWS = ["search_items", "copies", "data_locations"];

/** Lists are indexed anew. Until then, searches read the lists themselves. */
const REBUILD = [
  "DELETE FROM search_lists WHERE state = 'removed'",
  "UPDATE search_lists SET state = 'building', built_time = 9007199254740991, built_id = ''",
];

/** D1 takes statements of 100,000 bytes. JSON and SQL make a code point nine bytes at most. */
const CHUNK_CODE_POINTS = 10_000;
/** Characters of a literal from which a statement sets the text on its own. */
export const LONG_LITERAL = 5_000;
/** A page reads as many rows at most as if each had so many characters. */
const SHORTEST_ROW = 64;

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** A text as an expression without line breaks, which files of wrangler do not keep. */
const textOf = (text: string): string => `'${JSON.stringify(text).replaceAll("'", "''")}' ->> '$'`;

function literalOf(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new Error("A column has bytes, which the copy cannot write as SQL");
  return /\p{Cc}/u.test(value) ? `(${textOf(value)})` : `'${value.replaceAll("'", "''")}'`;
}

interface Reference {
  readonly parent: string;
  /** Pairs of a column of the table, and the parent's column that it names. */
  readonly columns: readonly (readonly [own: string, theirs: string])[];
  readonly isCleared: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key. */
  readonly key: ReadonlySet<string>;
  readonly references: readonly Reference[];
}

export interface Schema {
  /** The tables whose rows are copied: the targets of references before the tables that refer to them. */
  readonly tables: readonly Table[];
  /** Statements before the rows: the tables, and the unique indexes, by which a row replaces an earlier one. */
  readonly before: readonly string[];
  /** Statements after the rows: a trigger would count the rows again. */
  readonly after: readonly string[];
  /** Equal for equal schemas. */
  readonly source: string;
}

type Fields = Readonly<Record<string, unknown>>;

const plain = <Row extends Fields = Fields>(
  sql: string,
  params: readonly unknown[] = [],
): Statement<Row> => ({ sql, params });

const SELECT_OBJECTS = plain(
  "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'trigger', rowid",
);

/** Details of many tables in one statement: the free plan has 50 an invocation. */
const selectDetails = (pragma: string, tables: readonly string[]): Statement<Fields> =>
  plain(
    `SELECT given.value AS owner, detail.* FROM json_each(?) AS given JOIN ${pragma}(given.value) AS detail`,
    [JSON.stringify(tables)],
  );

const sourceOf = (objects: readonly Fields[]): string => objects.map(({ sql }) => `${sql};\n`).join("");

/** The schema, by SQLite's own list of tables: virtual tables, and the tables behind them, have no rows to copy. */
export async function readSchema(db: Database): Promise<Schema> {
  const [kinds, objects] = await db.run([plain<Fields>("PRAGMA table_list"), SELECT_OBJECTS]);
  const namesOf = (kind: string) => kinds.filter(({ type }) => type === kind).map(({ name }) => String(name));
  const shadows = new Set(namesOf("shadow"));
  const virtual = new Set(namesOf("virtual"));
  const own = objects.filter(
    ({ name }) => !/^(sqlite_|_cf_)/.test(String(name)) && !shadows.has(String(name)),
  );
  const isTable = ({ type, name }: Fields) => type === "table" && !virtual.has(String(name));
  const isFirst = (object: Fields) => isTable(object) || /^CREATE UNIQUE INDEX/i.test(String(object.sql));
  const names = own.filter(isTable).map(({ name }) => String(name));
  const [columns, references] = await db.run([
    selectDetails("pragma_table_info", names),
    selectDetails("pragma_foreign_key_list", names),
  ]);
  const of = (name: string, details: readonly Fields[]) => details.filter(({ owner }) => owner === name);
  const all = names.map((name) => tableOf(name, of(name, columns), of(name, references)));
  const tables = parentsFirst(all).filter(({ name }) => !WITHOUT_ROWS.includes(name));
  return {
    tables,
    before: own.filter(isFirst).map(({ sql }) => String(sql)),
    after: [
      ...tables.flatMap(withoutOrphans),
      ...own.filter((object) => !isFirst(object)).map(({ sql }) => String(sql)),
      ...REBUILD,
    ],
    source: sourceOf(objects),
  };
}

function tableOf(name: string, columns: readonly Fields[], references: readonly Fields[]): Table {
  return {
    name,
    columns: columns.map((column) => String(column.name)),
    key: new Set(columns.filter(({ pk }) => Number(pk) > 0).map((column) => String(column.name))),
    references: [...Map.groupBy(references, ({ id }) => id).values()].map((pairs) => ({
      parent: String(pairs[0]?.table),
      columns: pairs.map(({ from, to }) => [String(from), String(to)] as const),
      isCleared: pairs[0]?.on_delete === "SET NULL",
    })),
  };
}

function parentsFirst(tables: readonly Table[]): readonly Table[] {
  const sorted = new Set<Table>();
  const visited = new Set<Table>();
  const visit = (table: Table): void => {
    if (visited.has(table)) return;
    visited.add(table);
    for (const { parent } of table.references)
      for (const each of tables) if (each.name === parent) visit(each);
    sorted.add(table);
  };
  tables.forEach(visit);
  return [...sorted];
}

/** Does to rows without a parent what the parent's deletion has done to them since they were read. */
const withoutOrphans = ({ name, references }: Table): string[] =>
  references.map(({ parent, columns, isCleared }) => {
    const table = quoteName(name);
    const isSet = columns.map(([own]) => `${quoteName(own)} IS NOT NULL`).join(" AND ");
    const isParent = columns
      .map(([own, theirs]) => `parent.${quoteName(theirs)} = ${table}.${quoteName(own)}`)
      .join(" AND ");
    const isOrphan = `${isSet} AND NOT EXISTS (SELECT 1 FROM ${quoteName(parent)} AS parent WHERE ${isParent})`;
    const cleared = columns.map(([own]) => `${quoteName(own)} = NULL`).join(", ");
    return isCleared
      ? `UPDATE ${table} SET ${cleared} WHERE ${isOrphan}`
      : `DELETE FROM ${table} WHERE ${isOrphan}`;
  });

/** The statements before the rows. */
export const beginning = ({ before }: Schema): string[] => ["PRAGMA defer_foreign_keys=TRUE", ...before];

/** The statements that set a text, in chunks. `where` is the condition of its row. */
export function* setText(
  { table, column, where }: { readonly table: string; readonly column: string; readonly where: string },
  text: string,
): Generator<string, void, void> {
  const name = quoteName(column);
  const points = Array.from(text);
  for (let from = 0; from < points.length; from += CHUNK_CODE_POINTS) {
    const chunk = textOf(points.slice(from, from + CHUNK_CODE_POINTS).join(""));
    yield `UPDATE ${quoteName(table)} SET ${name} = ${name} || (${chunk}) WHERE ${where}`;
  }
}

/** The statements that insert a row. It replaces an earlier one of the same key or unique value, which it has changed since. */
function* insertRow({ name, columns, key }: Table, row: Fields): Generator<string, void, void> {
  const longTexts = new Map<string, string>();
  const literals = columns.map((column) => {
    const value = row[column];
    if (typeof value !== "string" || value.length < LONG_LITERAL || key.has(column)) return literalOf(value);
    longTexts.set(column, value);
    return "''";
  });
  yield `INSERT OR REPLACE INTO ${quoteName(name)} (${columns.map(quoteName)}) VALUES (${literals})`;
  const where = [...key].map((column) => `${quoteName(column)} = ${literalOf(row[column])}`).join(" AND ");
  for (const [column, text] of longTexts) yield* setText({ table: name, column, where }, text);
}

interface PageRow extends Fields {
  /** The row's number in its table. */
  readonly "#row": number;
  /** The number of rows from which the page was cut. */
  readonly "#of": number;
}

const rowsOf = (characters: number): number => Math.ceil(characters / SHORTEST_ROW);

/** Rows behind the row `after`: as many as have about so many characters, and at least one. */
function selectPage({ name, columns }: Table, after: number, characters: number): Statement<PageRow> {
  const listed = columns.map(quoteName).join(", ");
  const size = columns.map((column) => `coalesce(length(${quoteName(column)}), 0)`).join(" + ");
  return plain(
    `SELECT * FROM (
      SELECT *, count(*) OVER () AS "#of",
        sum("#size") OVER (ORDER BY "#row" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "#before"
      FROM (SELECT _rowid_ AS "#row", ${size} AS "#size", ${listed} FROM ${quoteName(name)}
        WHERE _rowid_ > ? ORDER BY _rowid_ LIMIT ?)
    ) WHERE coalesce("#before", 0) < ?`,
    [after, rowsOf(characters), characters],
  );
}

/** Rows of one moment, as statements, and the place of the next ones. */
interface Chunk {
  readonly statements: readonly string[];
  /** Null when no row is left. */
  readonly next: { readonly table: string; readonly after: number } | null;
}

/** Characters of a page of a table alone, and of each of several tables: they are in memory at once. */
export interface PageSizes {
  readonly alone: number;
  readonly beside: number;
}

/**
 * Reads the next rows in one transaction: of all tables from `table` on until one has more than a page, or of that one
 * alone if some of its rows were read before. Returns null when the schema is no longer the one given.
 */
export async function readChunk(
  db: Database,
  schema: Schema,
  from: { readonly table: string | null; readonly after: number },
  sizes: PageSizes,
): Promise<Chunk | null> {
  const left = schema.tables.slice(
    Math.max(
      schema.tables.findIndex(({ name }) => name === from.table),
      0,
    ),
  );
  const [size, tables] = from.after > 0 ? [sizes.alone, left.slice(0, 1)] : [sizes.beside, left];
  const pages = tables.map((table, index) => selectPage(table, index === 0 ? from.after : 0, size));
  const [objects, ...results]: readonly (readonly Fields[])[] = await db.run([SELECT_OBJECTS, ...pages]);
  if (sourceOf(objects ?? []) !== schema.source) return null;
  const statements: string[] = [];
  for (const [index, table] of tables.entries()) {
    const rows = (results[index] ?? []) as readonly PageRow[];
    for (const row of rows) statements.push(...insertRow(table, row));
    const last = rows.at(-1);
    if (last !== undefined && (rows.length < last["#of"] || rows.length === rowsOf(size)))
      return { statements, next: { table: table.name, after: last["#row"] } };
  }
  const following = left[tables.length];
  return { statements, next: following === undefined ? null : { table: following.name, after: 0 } };
}
