/** The demo organization of a local database and its owner: created on the first start, kept on later ones. */
import { readFile, rename } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import {
  applyMigrations,
  type Database,
  executeOnTables,
  isNew,
  listBindings,
  listMigrations,
} from "./database.ts";
import { writePrivateFile } from "./process/folder.ts";
import { bearerOf, type Credentials } from "./secrets.ts";

/** The preparations of an earlier start, in the state folder, which this one skips. */
const FILE = "demo.json";
const NAME = "Demo";

const Demo = z.object({
  accountId: z.string(),
  apiKey: z.string(),
  signIn: z.object({ email: z.string(), password: z.string() }),
});
/** The organization, and its owner's sign-in to the dashboard. */
export type Demo = z.infer<typeof Demo>;

/** The demo, the applied migrations, and the bindings of the databases that have them. */
const Prepared = Demo.extend({ migrations: z.array(z.string()), databases: z.array(z.string()) });

/** Brings the tables up to date, creates the missing parts of the demo organization, and returns it. */
export async function prepareDemo(persistTo: string, stop: AbortSignal): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  const migrations = await listMigrations();
  const earlier = await readPrepared(persistTo);
  const missing = migrations.filter((name) => !earlier?.migrations.includes(name));
  const isBound = (await listBindings("local")).every((name) => earlier?.databases.includes(name));
  if (earlier !== null && missing.length === 0 && isBound) return earlier;
  if (missing.length > 0) console.log(`Applying migrations: ${missing.join(", ")}`);
  if (!isNew(database)) await applyMigrations(database, stop);
  return writePrepared(persistTo, earlier ?? (await createDemo(database, stop)), migrations);
}

/** Returns the given organization, or a new one if the database was emptied or the key revoked. */
export async function confirmDemo(
  url: string,
  persistTo: string,
  demo: Demo,
  stop: AbortSignal,
): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  let status = await statusFor(url, demo);
  if (status >= 500) {
    // Every request fails while tables are missing. Migrations that were applied before change nothing.
    await applyMigrations(database, stop);
    status = await statusFor(url, demo);
  }
  if (status !== 401) return demo;
  console.log("The demo organization is no longer in the database: creating a new one");
  return writePrepared(persistTo, await createDemo(database, stop), await listMigrations());
}

async function statusFor(url: string, credentials: Credentials): Promise<number> {
  const response = await fetch(`${url}/v1/accounts/${credentials.accountId}/rooms?limit=1`, {
    headers: { Authorization: `Bearer ${bearerOf(credentials)}` },
  });
  await response.body?.cancel();
  return response.status;
}

/** One transaction, as each call of wrangler takes a second. */
async function createDemo(database: Database, stop: AbortSignal): Promise<Demo> {
  // The queries of the features take a second to load, and later starts need none of them.
  const [{ planOrganization }, { planOwner }] = await Promise.all([
    import("./organization.ts"),
    import("./person.ts"),
  ]);
  const organization = await planOrganization(NAME);
  const owner = await planOwner(organization.credentials.accountId);
  await executeOnTables(database, [...organization.statements, ...owner.statements], stop);
  return { ...organization.credentials, signIn: owner.signIn };
}

/** Null when nothing is prepared, when the database was deleted since, or when the file is damaged. */
async function readPrepared(persistTo: string): Promise<z.infer<typeof Prepared> | null> {
  if (isNew({ kind: "local", persistTo })) return null;
  try {
    return Prepared.parse(JSON.parse(await readFile(path.join(persistTo, FILE), "utf8")));
  } catch {
    return null;
  }
}

/** Writes a draft and renames it, so that a start that dies halfway leaves either the old file or the new one. */
async function writePrepared(
  persistTo: string,
  { accountId, apiKey, signIn }: Demo,
  migrations: readonly string[],
): Promise<Demo> {
  const file = path.join(persistTo, FILE);
  const draft = `${file}.${process.pid}`;
  const prepared = { accountId, apiKey, signIn, migrations, databases: await listBindings("local") };
  await writePrivateFile(draft, `${JSON.stringify(prepared, null, 2)}\n`);
  await rename(draft, file);
  return prepared;
}
