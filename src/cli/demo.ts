/** The demo organization of a local database: made on the first start, the same on every later one. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { applyMigrations, type Database } from "./database.ts";
import { bearerOf, type Credentials, createOrganization } from "./organization.ts";
import { ROOT } from "./wrangler.ts";

/** In the persist directory: what a start can skip, because an earlier one did it. */
const FILE = "demo.json";
const NAME = "Demo";

interface Prepared extends Credentials {
  /** The migrations that were applied. */
  readonly migrations: readonly string[];
}

/** The demo organization of a database whose tables are up to date; makes what is missing. */
export async function prepareDemo(persistTo: string, stop: AbortSignal): Promise<Credentials> {
  const database: Database = { kind: "local", persistTo };
  const migrations = await listMigrations();
  const earlier = await readPrepared(persistTo);
  if (earlier !== null && migrations.every((name) => earlier.migrations.includes(name))) return earlier;
  const missing = migrations.filter((name) => !earlier?.migrations.includes(name));
  console.log(`Applying migrations: ${missing.join(", ")}`);
  await applyMigrations(database, stop);
  const credentials = earlier ?? (await createDemo(database, stop));
  return writePrepared(persistTo, credentials, migrations);
}

/**
 * Credentials that the running service accepts: these, unless the database was emptied or the key revoked
 * behind the back of the file above. Then what is missing is made while the service runs.
 */
export async function confirmDemo(
  url: string,
  persistTo: string,
  credentials: Credentials,
  stop: AbortSignal,
): Promise<Credentials> {
  const database: Database = { kind: "local", persistTo };
  let status = await answerFor(url, credentials);
  if (status >= 500) {
    // Without tables every request fails; with them, applying the migrations once more changes nothing.
    await applyMigrations(database, stop);
    status = await answerFor(url, credentials);
  }
  if (status !== 401) return credentials;
  console.log("The database does not know the demo organization any more: making a new one");
  return writePrepared(persistTo, await createDemo(database, stop), await listMigrations());
}

async function answerFor(url: string, credentials: Credentials): Promise<number> {
  const response = await fetch(`${url}/v1/accounts/${credentials.accountId}/rooms?limit=1`, {
    headers: { Authorization: `Bearer ${bearerOf(credentials)}` },
  });
  await response.body?.cancel();
  return response.status;
}

const createDemo = (database: Database, stop: AbortSignal): Promise<Credentials> =>
  createOrganization(database, NAME, stop);

async function listMigrations(): Promise<string[]> {
  const files = await readdir(path.join(ROOT, "migrations"));
  return files.filter((file) => file.endsWith(".sql")).sort();
}

/** Null when nothing was prepared yet, when the databases were deleted since, or when the file is damaged. */
async function readPrepared(persistTo: string): Promise<Prepared | null> {
  if (!existsSync(path.join(persistTo, "v3/d1"))) return null;
  try {
    return parsePrepared(JSON.parse(await readFile(path.join(persistTo, FILE), "utf8")));
  } catch {
    return null;
  }
}

function parsePrepared(value: unknown): Prepared | null {
  const { accountId, apiKey, migrations } = value as Partial<Record<keyof Prepared, unknown>>;
  if (typeof accountId !== "string" || typeof apiKey !== "string" || !Array.isArray(migrations)) return null;
  return { accountId, apiKey, migrations: migrations.map(String) };
}

/** Written beside and renamed, so that a start that dies half-way leaves the old file or the whole new one. */
async function writePrepared(
  persistTo: string,
  { accountId, apiKey }: Credentials,
  migrations: readonly string[],
): Promise<Credentials> {
  const file = path.join(persistTo, FILE);
  const draft = `${file}.${process.pid}`;
  const prepared: Prepared = { accountId, apiKey, migrations };
  await mkdir(persistTo, { recursive: true });
  await writeFile(draft, `${JSON.stringify(prepared, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
  return prepared;
}
