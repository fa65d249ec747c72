/** Reads and writes the file of a local database, even while a service uses it. */
import { globSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Guards against hanging; a service writes for milliseconds. */
const BUSY_MS = 60_000;

/** Runs a statement, and returns its rows. */
export function query<Row>(persistTo: string, sql: string): Row[] {
  const folder = path.join(persistTo, "v3/d1/miniflare-D1DatabaseObject");
  const [file, ...others] = globSync("*.sqlite", { cwd: folder }).filter(
    (name) => name !== "metadata.sqlite",
  );
  if (file === undefined || others.length > 0) throw new Error(`${folder} must have one database`);
  const database = new DatabaseSync(path.join(folder, file), { timeout: BUSY_MS });
  try {
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}
