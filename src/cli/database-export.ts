/** Exports a D1 database as SQL that D1 imports into an empty one. Cloudflare's own export refuses databases with FTS5. */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { bindingOf, type Database, execute, type Rows } from "./database.ts";
import { CommandError } from "./process/command.ts";
import { linesOf } from "./process/folder.ts";
import { CONFIG, runWrangler } from "./process/wrangler.ts";

/** Derived from other tables: the cron trigger fills it again. */
const DERIVED = "search_items";

/** Lists are indexed anew. Until then, searches read the lists themselves. */
const REBUILD = [
  "DELETE FROM search_lists WHERE state = 'removed'",
  "UPDATE search_lists SET state = 'building', built_time = 9007199254740991, built_id = ''",
];

/** D1 takes statements of 100,000 bytes. JSON and SQL make a code point nine bytes at most. */
const CHUNK_CODE_POINTS = 10_000;
const LONG_LITERAL = 5_000;
const ROWS_AT_ONCE = 50;

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** A text as an expression without line breaks, which files of wrangler do not keep. */
const textOf = (text: string): string => `'${JSON.stringify(text).replaceAll("'", "''")}' ->> '$'`;

interface Schema {
  /** Names of the tables whose rows are exported. */
  readonly exported: readonly string[];
  /** Statements that create the tables, and those that follow the rows: a trigger would count the rows again. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Names of the columns of each exported table's primary key. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The schema, by SQLite's own list of tables: virtual tables, and the tables behind them, have no rows to export. */
async function readSchema(database: Database, stop: AbortSignal): Promise<Schema> {
  const [kinds = [], objects = []] = await execute(
    database,
    [
      "PRAGMA table_list",
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'trigger', rowid",
    ],
    stop,
  );
  const namesOf = (kind: string) => kinds.filter(({ type }) => type === kind).map(({ name }) => String(name));
  const shadows = new Set(namesOf("shadow"));
  const virtual = new Set(namesOf("virtual"));
  const isOwn = ({ name }: Rows[number]) =>
    !/^(sqlite_|_cf_)/.test(String(name)) && !shadows.has(String(name));
  const own = objects.filter(isOwn);
  const isTable = ({ type, name }: Rows[number]) => type === "table" && !virtual.has(String(name));
  const tables = own.filter(isTable).map(({ name }) => String(name));
  const columns = await execute(
    database,
    tables.map((table) => `PRAGMA table_info(${quoteName(table)})`),
    stop,
  );
  const keyOf = (rows: Rows = []) =>
    new Set(rows.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name)));
  return {
    exported: tables.filter((table) => table !== DERIVED),
    before: own.filter(isTable).map(({ sql }) => String(sql)),
    after: own.filter((object) => !isTable(object)).map(({ sql }) => String(sql)),
    keys: new Map(tables.map((table, index) => [table, keyOf(columns[index])])),
  };
}

/** A text that the export does not have as it is. */
interface OmittedText {
  readonly table: string;
  readonly column: string;
  /** The condition of its row. */
  readonly where: string;
}

const INSERT = /^INSERT INTO "([^"]+)" \(([^)]*)\) VALUES\((.*)\);$/s;
const LITERAL = /(?:replace\(){0,2}'[^']*(?:''[^']*)*'(?:,'\\[nr]',char\(1[03]\)\))*|[^,]+/g;

/**
 * Empties the texts of a row that D1's export damages or cannot import: it writes a line break like the characters `\n`, and
 * each row as one statement, however long.
 */
function omitTexts(line: string, keys: Schema["keys"], omitted: OmittedText[]): string {
  if (line.length < LONG_LITERAL && !line.includes(",char(1")) return line;
  const [, table = "", names = "", values = ""] = INSERT.exec(line) ?? [];
  const columns = names.split(",").map((name) => name.slice(1, -1));
  const literals = values.match(LITERAL) ?? [];
  const key = keys.get(table);
  if (key === undefined || key.size === 0 || literals.length !== columns.length)
    throw new CommandError(
      "The export of D1 has a statement of an unknown form. Use npm run account -- backup --all.",
    );
  const where = columns
    .flatMap((column, index) => (key.has(column) ? [`${quoteName(column)} = ${literals[index]}`] : []))
    .join(" AND ");
  const kept = literals.map((literal, index) => {
    const column = columns[index] ?? "";
    const isFaithful = literal.length < LONG_LITERAL && !literal.startsWith("replace(");
    if (isFaithful || key.has(column)) return literal;
    omitted.push({ table, column, where });
    return "''";
  });
  return `INSERT INTO ${quoteName(table)} (${names}) VALUES(${kept.join(",")});`;
}

/** The statements that set an omitted text, in chunks. */
function* setText({ table, column, where }: OmittedText, text: string): Generator<string, void, void> {
  const name = quoteName(column);
  const points = Array.from(text);
  for (let from = 0; from < points.length; from += CHUNK_CODE_POINTS) {
    const chunk = textOf(points.slice(from, from + CHUNK_CODE_POINTS).join(""));
    yield `UPDATE ${quoteName(table)} SET ${name} = ${name} || (${chunk}) WHERE ${where}`;
  }
}

async function* omittedTexts(
  database: Database,
  omitted: readonly OmittedText[],
  stop: AbortSignal,
): AsyncGenerator<string, void, void> {
  for (let from = 0; from < omitted.length; from += ROWS_AT_ONCE) {
    const texts = omitted.slice(from, from + ROWS_AT_ONCE);
    const selects = texts.map(
      ({ table, column, where }) =>
        `SELECT ${quoteName(column)} AS text FROM ${quoteName(table)} WHERE ${where}`,
    );
    const results = await execute(database, selects, stop);
    for (const [index, text] of texts.entries())
      for (const row of results[index] ?? []) yield* setText(text, String(row.text ?? ""));
  }
}

/**
 * Writes the database to a new file, and returns the number of its tables. Rows are as of one moment, except for texts with
 * line breaks and long texts, which are read right after it. Throws a CommandError with wrangler's reason.
 */
export async function exportDatabase(database: Database, file: string, stop: AbortSignal): Promise<number> {
  const { exported, before, after, keys } = await readSchema(database, stop);
  const rows = `${file}.rows`;
  const place = database.kind === "remote" ? ["--remote"] : ["--local", "--config", CONFIG];
  const tables = exported.flatMap((table) => ["--table", table]);
  const command = ["d1", "export", bindingOf(database), ...place, "--skip-confirmation", "--no-schema"];
  try {
    await runWrangler([...command, "--output", rows, ...tables], stop);
    const omitted: OmittedText[] = [];
    const statements = async function* () {
      yield "PRAGMA defer_foreign_keys=TRUE;\n";
      for (const sql of before) yield `${sql};\n`;
      for await (const line of linesOf(rows)) yield `${omitTexts(line, keys, omitted)}\n`;
      for await (const sql of omittedTexts(database, omitted, stop)) yield `${sql};\n`;
      for (const sql of [...after, ...REBUILD]) yield `${sql};\n`;
    };
    await pipeline(statements, createWriteStream(file, { flags: "wx", mode: 0o600 }));
    return exported.length;
  } finally {
    await rm(rows, { force: true });
  }
}
