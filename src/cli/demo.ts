/** The demo organization of a local database, and its owner: made on the first start, the same on every later one. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { applyMigrations, type Database } from "./database.ts";
import { bearerOf, type Credentials, createOrganization } from "./organization.ts";
import { createOwner, type SignIn } from "./person.ts";
import { ROOT } from "./service/wrangler.ts";

/** In the persist directory: what a start can skip, because an earlier one did it. */
const FILE = "demo.json";
const NAME = "Demo";

/** The organization, and how to sign in to its dashboard. */
export interface Demo extends Credentials {
  readonly signIn: SignIn;
}

interface Prepared extends Credentials {
  /** Null where an earlier version made the organization: it knew of no people. */
  readonly signIn: SignIn | null;
  /** The migrations that were applied. */
  readonly migrations: readonly string[];
}

/** The demo organization of a database whose tables are up to date; makes what is missing. */
export async function prepareDemo(persistTo: string, stop: AbortSignal): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  const migrations = await listMigrations();
  const earlier = await readPrepared(persistTo);
  const missing = migrations.filter((name) => !earlier?.migrations.includes(name));
  if (earlier?.signIn && missing.length === 0) return { ...earlier, signIn: earlier.signIn };
  if (missing.length > 0) console.log(`Applying migrations: ${missing.join(", ")}`);
  await applyMigrations(database, stop);
  const demo =
    earlier === null ? await createDemo(database, stop) : await withSignIn(database, earlier, stop);
  return writePrepared(persistTo, demo, migrations);
}

/**
 * A demo that the running service accepts: this one, unless the database was emptied or the key revoked
 * behind the back of the file above. Then what is missing is made while the service runs.
 */
export async function confirmDemo(
  url: string,
  persistTo: string,
  demo: Demo,
  stop: AbortSignal,
): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  let status = await answerFor(url, demo);
  if (status >= 500) {
    // Without tables every request fails; with them, applying the migrations once more changes nothing.
    await applyMigrations(database, stop);
    status = await answerFor(url, demo);
  }
  if (status !== 401) return demo;
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

const createDemo = async (database: Database, stop: AbortSignal): Promise<Demo> => {
  const credentials = await createOrganization(database, NAME, stop);
  return { ...credentials, signIn: await createOwner(database, credentials.accountId, stop) };
};

const withSignIn = async (database: Database, earlier: Prepared, stop: AbortSignal): Promise<Demo> => ({
  ...earlier,
  signIn: earlier.signIn ?? (await createOwner(database, earlier.accountId, stop)),
});

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
  const { accountId, apiKey, signIn, migrations } = value as Partial<Record<keyof Prepared, unknown>>;
  if (typeof accountId !== "string" || typeof apiKey !== "string" || !Array.isArray(migrations)) return null;
  return { accountId, apiKey, signIn: parseSignIn(signIn), migrations: migrations.map(String) };
}

function parseSignIn(value: unknown): SignIn | null {
  const { email, password } = (value ?? {}) as Partial<Record<keyof SignIn, unknown>>;
  return typeof email === "string" && typeof password === "string" ? { email, password } : null;
}

/** Written beside and renamed, so that a start that dies half-way leaves the old file or the whole new one. */
async function writePrepared(
  persistTo: string,
  { accountId, apiKey, signIn }: Demo,
  migrations: readonly string[],
): Promise<Demo> {
  const file = path.join(persistTo, FILE);
  const draft = `${file}.${process.pid}`;
  const prepared = { accountId, apiKey, signIn, migrations };
  await mkdir(persistTo, { recursive: true });
  await writeFile(draft, `${JSON.stringify(prepared, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
  return prepared;
}
