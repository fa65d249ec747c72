/** Reads and writes a local database with wrangler, as a developer would. */
import path from "node:path";
import { ROOT, run } from "./processes.ts";

/** Runs a query, even while a service uses the database, and returns its rows. */
export async function query<Row>(persistTo: string, sql: string): Promise<Row[]> {
  const wrangler = path.join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const args = ["d1", "execute", "DB", "--local", "--persist-to", persistTo, "--json", "--command", sql];
  const { exitCode, stdout, stderr } = await run(process.execPath, [wrangler, ...args]);
  if (exitCode !== 0) throw new Error(`wrangler exited with ${exitCode}: ${stdout}${stderr}`);
  return JSON.parse(stdout)[0].results;
}
