/** Makes an organization and its first API key, straight in the database: no API may do that. */
import { createApiKey, fingerprintOf } from "../accounts/api-key.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";

/** What speaks for an organization. The key is stored nowhere but hashed, so this is the one chance to keep it. */
export interface Credentials {
  readonly accountId: string;
  readonly apiKey: string;
}

const MAX_NAME_LENGTH = 255;

/** True for a name that an organization may have: 1 to 255 code points, none of them a NUL or half a character. */
export function isOrganizationName(name: string): boolean {
  const length = [...name].length;
  return length >= 1 && length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes("\0");
}

/** The value of an `Authorization: Bearer` header. */
export const bearerOf = ({ accountId, apiKey }: Credentials): string =>
  Buffer.from(`${accountId}:${apiKey}`).toString("base64");

export async function createOrganization(
  database: Database,
  name: string,
  stop: AbortSignal,
): Promise<Credentials> {
  const accountId = crypto.randomUUID();
  const apiKey = createApiKey();
  const { hash, prefix, lastFour } = await fingerprintOf(apiKey);
  const now = Date.now();
  const key = [crypto.randomUUID(), accountId, "First key", hash, prefix, lastFour].map(quoteSql).join(", ");
  const statements = [
    `INSERT INTO accounts (id, name, created_at) VALUES (${quoteSql(accountId)}, ${quoteSql(name)}, ${now})`,
    `INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at) VALUES (${key}, ${now})`,
  ];
  await executeOnTables(database, statements, stop);
  return { accountId, apiKey };
}
