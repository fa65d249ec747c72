/** The person who signs in to the dashboard of a development database: the owner of the demo organization. */
import { randomBytes } from "node:crypto";
import { hashPassword } from "../features/people/password.ts";
import { quoteSql } from "./database.ts";

/** How to sign in. The database stores only the hash of the password. */
export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** What creates the owner of an organization, and how that person will sign in. */
interface OwnerPlan {
  readonly signIn: SignIn;
  readonly statements: readonly string[];
}

const NAME = "Demo";
const EMAIL = "demo@atrium.example";
/** 96 bits: it is copied, not remembered. */
const PASSWORD_BYTES = 12;

/**
 * Plans the person with a new password, as an owner of the organization. A person who still exists from a deleted
 * organization gets the new password, too.
 */
export async function planOwner(accountId: string): Promise<OwnerPlan> {
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
  return { signIn: { email: EMAIL, password }, statements };
}
