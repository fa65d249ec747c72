/** Exports a D1 database as SQL that D1 imports into an empty one. Cloudflare's own export refuses databases with FTS5. */
import { createWriteStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import {
  beginning,
  LONG_LITERAL,
  quoteName,
  readSchema,
  setText,
} from "../features/copies/dump-statements.ts";
import { bindingOf, type Database, databasePort, execute } from "./database.ts";
import { CommandError } from "./process/command.ts";
import { linesOf } from "./process/folder.ts";
import { CONFIG, runWrangler } from "./process/wrangler.ts";

const ROWS_AT_ONCE = 50;

type Keys = ReadonlyMap<string, ReadonlySet<string>>;

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
function omitTexts(line: string, keys: Keys, omitted: OmittedText[]): string {
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

/** Writes the rows of the tables to a file, as wrangler exports them. */
async function exportRows(
  database: Database,
  file: string,
  tables: readonly string[],
  stop: AbortSignal,
): Promise<void> {
  const named = tables.flatMap((name) => ["--table", name]);
  const command = [
    "d1",
    "export",
    bindingOf(database),
    "--skip-confirmation",
    "--no-schema",
    "--output",
    file,
  ];
  if (database.kind === "remote") {
    await runWrangler([...command, "--remote", ...named], stop);
    return;
  }
  // Wrangler exports the database in the state folder beside its configuration, and takes no other.
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-export-"));
  try {
    const config = path.join(folder, path.basename(CONFIG));
    await copyFile(CONFIG, config);
    await mkdir(path.join(folder, ".wrangler"));
    await symlink(path.resolve(database.persistTo), path.join(folder, ".wrangler/state"), "junction");
    await runWrangler([...command, "--local", "--config", config, ...named], stop);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Writes the database to a new file, and returns the number of its tables. Rows are as of one moment, except for texts with
 * line breaks and long texts, which are read right after it. Throws a CommandError with wrangler's reason.
 */
export async function exportDatabase(database: Database, file: string, stop: AbortSignal): Promise<number> {
  const schema = await readSchema(databasePort(database, stop));
  const keys = new Map(schema.tables.map(({ name, key }) => [name, key]));
  const rows = `${file}.rows`;
  try {
    const tables = schema.tables.map(({ name }) => name);
    await exportRows(database, rows, tables, stop);
    const omitted: OmittedText[] = [];
    const statements = async function* () {
      for (const sql of beginning(schema)) yield `${sql};\n`;
      for await (const line of linesOf(rows)) yield `${omitTexts(line, keys, omitted)}\n`;
      for await (const sql of omittedTexts(database, omitted, stop)) yield `${sql};\n`;
      for (const sql of schema.after) yield `${sql};\n`;
    };
    await pipeline(statements, createWriteStream(file, { flags: "wx", mode: 0o600 }));
    return schema.tables.length;
  } finally {
    await rm(rows, { force: true });
  }
}
