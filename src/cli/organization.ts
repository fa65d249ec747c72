/** Creates an organization and its first API key directly in the database: the API cannot do that without a key. */
import { createApiKey, fingerprintOf } from "../features/accounts/api-key.ts";
import { type Database, executeOnTables, listBindings, quoteSql } from "./database.ts";
import { UsageError } from "./process/command.ts";

/** An organization and a key that authenticates it. The database stores only the hash of the key. */
export interface Credentials {
  readonly accountId: string;
  readonly apiKey: string;
}

const MAX_NAME_LENGTH = 255;

/** Whether an organization may have the name: 1 to 255 code points, none of them NUL or an unpaired surrogate. */
export function isOrganizationName(name: string): boolean {
  const length = [...name].length;
  return length >= 1 && length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes("\0");
}

/** The value of an `Authorization: Bearer` header. */
export const bearerOf = ({ accountId, apiKey }: Credentials): string =>
  Buffer.from(`${accountId}:${apiKey}`).toString("base64");

/** What creates an organization, and the credentials that it will have. */
interface OrganizationPlan {
  readonly credentials: Credentials;
  readonly statements: readonly string[];
}

const insertOrganization = (accountId: string, name: string, now: number, place: string): string =>
  `INSERT INTO accounts (id, name, created_at, database)
   VALUES (${quoteSql(accountId)}, ${quoteSql(name)}, ${now}, ${quoteSql(place)})`;

/** Plans what the directory has of an organization that is placed in a database. */
export async function planOrganization(name: string, place = "DB"): Promise<OrganizationPlan> {
  const accountId = crypto.randomUUID();
  const apiKey = createApiKey();
  const { hash, prefix, lastFour } = await fingerprintOf(apiKey);
  const now = Date.now();
  const key = [crypto.randomUUID(), accountId, "First key", hash, prefix, lastFour].map(quoteSql).join(", ");
  const statements = [
    insertOrganization(accountId, name, now, place),
    `INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at) VALUES (${key}, ${now})`,
  ];
  return { credentials: { accountId, apiKey }, statements };
}

/** Creates an organization in the database with this binding: there first, so that the directory names what exists. */
export async function createOrganization(
  database: Database,
  name: string,
  place: string,
  stop: AbortSignal,
): Promise<Credentials> {
  const bindings = await listBindings();
  if (!bindings.includes(place))
    throw new UsageError(`${place} is no database of wrangler.toml: it has ${bindings.join(", ")}.`);
  const { credentials, statements } = await planOrganization(name, place);
  if (place !== "DB") {
    const row = insertOrganization(credentials.accountId, name, Date.now(), place);
    await executeOnTables({ ...database, binding: place }, [row], stop);
  }
  await executeOnTables(database, statements, stop);
  return credentials;
}

/** The database that an organization is placed in: the directory itself for one that it does not know. */
export async function placeOf(database: Database, accountId: string, stop: AbortSignal): Promise<Database> {
  if ((await listBindings()).length === 1) return database;
  const query = `SELECT database FROM accounts WHERE id = ${quoteSql(accountId)}`;
  const [[row] = []] = await executeOnTables(database, [query], stop);
  return { ...database, binding: String(row?.database ?? "DB") };
}
