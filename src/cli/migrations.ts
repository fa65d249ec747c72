/** The migrations of D1: their files, and all of them as the statements that make the tables of an empty database. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./process/wrangler.ts";

const FOLDER = path.join(ROOT, "migrations");

/** Where wrangler remembers which migrations it has applied. */
const APPLIED = "d1_migrations";
const CREATE_APPLIED =
  `CREATE TABLE ${APPLIED}(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, ` +
  "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/** The names of the migrations, in the order in which they are applied. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(FOLDER);
  return files.filter((file) => file.endsWith(".sql")).sort();
}

/** What wrangler does migration by migration. The first statement fails where wrangler has applied any of them. */
export async function planTables(): Promise<string[]> {
  const names = await listMigrations();
  const files = await Promise.all(names.map((name) => readFile(path.join(FOLDER, name), "utf8")));
  // A file may end with a comment, which a line break ends.
  const statements = files.map((sql) => `${sql.trim().replace(/;$/, "")}\n`);
  const rows = names.map((name) => `('${name.replaceAll("'", "''")}')`);
  return [CREATE_APPLIED, ...statements, `INSERT INTO ${APPLIED} (name) VALUES ${rows.join(", ")}`];
}
