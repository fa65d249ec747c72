/** The organizations of a local database and their owner: created on the first start, kept on later ones. */
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
import { Steps } from "./process/steps.ts";
import { bearerOf, type Credentials } from "./secrets.ts";

/** The preparations of an earlier start, in the state folder, which this one skips. */
const FILE = "demo.json";
const NAME = "Development";
const BOARDS_NAME = "Demo boards";

const Demo = z.object({
  accountId: z.string(),
  apiKey: z.string(),
  signIn: z.object({ email: z.string(), password: z.string() }),
  /** The organization of the boards of `/demo`: its rooms and people are not in the lists of the developer's own. */
  boardsAccountId: z.string(),
  /** By it a start finds out whether that organization still exists. An earlier version did not keep it. */
  boardsApiKey: z.string().default(""),
});
/** The developer's organization, that of the demo, and their owner's sign-in to the dashboard. */
export type Demo = z.infer<typeof Demo>;

/** The demo, the applied migrations, and the bindings of the databases that have them. */
const Prepared = Demo.extend({ migrations: z.array(z.string()), databases: z.array(z.string()) });

/** Brings the tables up to date, creates the missing organizations, and returns them. */
export async function prepareDemo(persistTo: string, stop: AbortSignal): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  const migrations = await listMigrations();
  const earlier = await readPrepared(persistTo);
  const missing = migrations.filter((name) => !earlier?.migrations.includes(name));
  const isBound = (await listBindings("local")).every((name) => earlier?.databases.includes(name));
  if (earlier !== null && missing.length === 0 && isBound) return earlier;
  const title =
    missing.length > 0 ? `Applying migrations: ${missing.join(", ")}` : "Preparing the further databases";
  return new Steps(stop).show(title, async () => {
    if (!isNew(database)) await applyMigrations(database, stop);
    return writePrepared(persistTo, earlier ?? (await createDemo(database, stop)), migrations);
  });
}

/** Returns the demo, with an organization in place of one that was deleted, and a key in place of one that was revoked. */
export async function confirmDemo(
  url: string,
  persistTo: string,
  demo: Demo,
  stop: AbortSignal,
): Promise<Demo> {
  const database: Database = { kind: "local", persistTo };
  const statuses = () => Promise.all([statusFor(url, demo), statusFor(url, boardsOf(demo))]);
  let found = await statuses();
  if (found.some((status) => status >= 500)) {
    // Every request fails while tables are missing. Migrations that were applied before change nothing.
    await applyMigrations(database, stop);
    found = await statuses();
  }
  const refused = [demo, boardsOf(demo)].filter((_, index) => found[index] === 401);
  if (refused.length === 0) return demo;
  const ids = refused.map(({ accountId }) => accountId);
  return writePrepared(persistTo, await mendDemo(database, demo, ids, stop), await listMigrations());
}

const boardsOf = ({ boardsAccountId, boardsApiKey }: Demo): Credentials => ({
  accountId: boardsAccountId,
  apiKey: boardsApiKey,
});

async function statusFor(url: string, credentials: Credentials): Promise<number> {
  const response = await fetch(`${url}/v1/accounts/${credentials.accountId}/rooms?limit=1`, {
    headers: { Authorization: `Bearer ${bearerOf(credentials)}` },
  });
  await response.body?.cancel();
  return response.status;
}

/** The queries of the features take a second to load, and most starts need none of them. */
const loadPlans = async () => ({
  ...(await import("./organization.ts")),
  ...(await import("./person.ts")),
});

/** One transaction, as each call of wrangler takes a second. */
async function createDemo(database: Database, stop: AbortSignal): Promise<Demo> {
  const { planOrganization, planOwner } = await loadPlans();
  const [own, boards] = await Promise.all([planOrganization(NAME), planOrganization(BOARDS_NAME)]);
  const demo = joined(own.credentials, boards.credentials);
  const owner = await planOwner([demo.accountId, demo.boardsAccountId]);
  await executeOnTables(database, [...own.statements, ...boards.statements, ...owner.statements], stop);
  return { ...demo, signIn: owner.signIn };
}

const joined = (own: Credentials, boards: Credentials) => ({
  ...own,
  boardsAccountId: boards.accountId,
  boardsApiKey: boards.apiKey,
});

/**
 * Of the organizations whose keys the service refuses, those that exist get another key, and the others are created. The
 * owner's password changes only with the developer's organization: without it, no one may know the earlier one.
 */
async function mendDemo(
  database: Database,
  demo: Demo,
  refused: readonly string[],
  stop: AbortSignal,
): Promise<Demo> {
  const { existingOf, planKey, planMemberships, planOrganization, planOwner } = await loadPlans();
  const existing = await existingOf(database, refused, stop);
  const mend = async (credentials: Credentials, name: string) => {
    const { accountId } = credentials;
    if (!refused.includes(accountId)) return { credentials, statements: [] };
    if (existing.has(accountId)) {
      console.log(
        `The API key of the organization "${name}" is no longer in the database: creating another one`,
      );
      return planKey(accountId, "Key of npm start");
    }
    console.log(`The organization "${name}" is no longer in the database: creating a new one`);
    return planOrganization(name);
  };
  const own = await mend(demo, NAME);
  const boards = await mend(boardsOf(demo), BOARDS_NAME);
  const mended = joined(own.credentials, boards.credentials);
  const isNewBoards = mended.boardsAccountId !== demo.boardsAccountId;
  const owner =
    mended.accountId !== demo.accountId
      ? await planOwner([mended.accountId, mended.boardsAccountId])
      : { signIn: demo.signIn, statements: planMemberships(isNewBoards ? [mended.boardsAccountId] : []) };
  await executeOnTables(database, [...own.statements, ...boards.statements, ...owner.statements], stop);
  return { ...mended, signIn: owner.signIn };
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
  { accountId, apiKey, signIn, boardsAccountId, boardsApiKey }: Demo,
  migrations: readonly string[],
): Promise<Demo> {
  const file = path.join(persistTo, FILE);
  const draft = `${file}.draft`; // the state folder is this process's own
  const databases = await listBindings("local");
  const organizations = { accountId, apiKey, boardsAccountId, boardsApiKey };
  const prepared = { ...organizations, signIn, migrations, databases };
  await writePrivateFile(draft, `${JSON.stringify(prepared, null, 2)}\n`);
  await rename(draft, file);
  return prepared;
}
