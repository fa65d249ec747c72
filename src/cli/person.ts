/** The person who signs in to the dashboard of a development database: a member of the demo organization. */
import { randomBytes } from "node:crypto";
import { hashPassword } from "../people/password.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";

/** How to sign in. The password is stored nowhere but hashed, so this is the one chance to keep it. */
export interface SignIn {
  readonly email: string;
  readonly password: string;
}

const NAME = "Demo";
const EMAIL = "demo@atrium.example";
/** 96 bits: as words of a person it would be long, and this one is copied. */
const PASSWORD_BYTES = 12;

/**
 * Makes the person an owner of the organization, under a new password. Where it is there already, from an
 * organization that was deleted, it gets the password too.
 */
export async function createOwner(database: Database, accountId: string, stop: AbortSignal): Promise<SignIn> {
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  const now = Date.now();
  const [id, credentialId, account] = [crypto.randomUUID(), crypto.randomUUID(), accountId].map(quoteSql);
  const [name, email, hash] = [NAME, EMAIL, await hashPassword(password)].map(quoteSql);
  const person = `FROM people WHERE email = ${email}`;
  const statements = [
    `INSERT INTO people (id, name, email, created_at, updated_at) VALUES (${id}, ${name}, ${email}, ${now}, ${now})
     ON CONFLICT (email) DO NOTHING`,
    `INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at, updated_at)
     SELECT ${credentialId}, id, 'credential', id, ${hash}, ${now}, ${now} ${person}
     ON CONFLICT (provider_id, provider_account_id) DO UPDATE SET password = excluded.password`,
    `INSERT INTO memberships (account_id, person_id, role, joined_at) SELECT ${account}, id, 'owner', ${now} ${person}`,
  ];
  await executeOnTables(database, statements, stop);
  return { email: EMAIL, password };
}
