/** Creates an organization and its first API key directly in the database: the API cannot do that without a key. */
import { createApiKey, fingerprintOf } from "../accounts/api-key.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";

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

export async function planOrganization(name: string): Promise<OrganizationPlan> {
  const accountId = crypto.randomUUID();
  const apiKey = createApiKey();
  const { hash, prefix, lastFour } = await fingerprintOf(apiKey);
  const now = Date.now();
  const key = [crypto.randomUUID(), accountId, "First key", hash, prefix, lastFour].map(quoteSql).join(", ");
  const statements = [
    `INSERT INTO accounts (id, name, created_at) VALUES (${quoteSql(accountId)}, ${quoteSql(name)}, ${now})`,
    `INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at) VALUES (${key}, ${now})`,
  ];
  return { credentials: { accountId, apiKey }, statements };
}

export async function createOrganization(
  database: Database,
  name: string,
  stop: AbortSignal,
): Promise<Credentials> {
  const { credentials, statements } = await planOrganization(name);
  await executeOnTables(database, statements, stop);
  return credentials;
}
