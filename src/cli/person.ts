/** Persons as the operator changes them, directly in the database: owners, ways to sign in again, export and deletion. */
import { randomBytes } from "node:crypto";
import type { PersonRecord } from "@atrium/contract/rest/privacy.ts";
import { sql } from "drizzle-orm";
import {
  createLinkToken,
  createSetupCode,
  linkHashOf,
  passwordLink,
  SETUP_PREFIX,
  setupCode,
  setupHashOf,
} from "../features/people/links.ts";
import { hashPassword } from "../features/people/password.ts";
import { exportPerson } from "../features/privacy/person-queries.ts";
import { deletePerson, selectOwnedAlone, selectPersonId } from "../features/privacy/statements.ts";
import { deleteFactorOf } from "../features/second-factor/statements.ts";
import { type Database as ServiceDatabase, statement } from "../platform/d1/d1.ts";
import { type Database, databasePort, executeOnTables, isDirectory } from "./database.ts";
import { placeOf } from "./organization.ts";
import { CommandError } from "./process/command.ts";

const NAME = "Demo";
const EMAIL = "demo@atrium.example";
/** 96 bits: it is copied, not remembered. */
const PASSWORD_BYTES = 12;

/**
 * The owner of these organizations, the first of which the dashboard opens first, with a new password, also where the
 * person still exists from a deleted one.
 */
export async function planOwner(accountIds: readonly string[]) {
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  const now = Date.now();
  const hash = await hashPassword(password);
  const person = sql`FROM people WHERE email = ${EMAIL}`;
  const statements = [
    statement`INSERT INTO people (id, name, email, created_at, updated_at)
        VALUES (${crypto.randomUUID()}, ${NAME}, ${EMAIL}, ${now}, ${now}) ON CONFLICT (email) DO NOTHING`,
    statement`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, password, created_at, updated_at)
        SELECT ${crypto.randomUUID()}, id, 'credential', id, ${hash}, ${now}, ${now} ${person}
        ON CONFLICT (provider_id, provider_account_id) DO UPDATE SET password = excluded.password`,
    ...planMemberships(accountIds),
  ];
  return { signIn: { email: EMAIL, password }, statements };
}

/** Makes that person, where it exists, an owner of these organizations, which the dashboard lists in their order. */
export const planMemberships = (accountIds: readonly string[]) =>
  accountIds.map(
    (accountId, index) => statement`INSERT INTO memberships (account_id, person_id, role, joined_at)
        SELECT ${accountId}, id, 'owner', ${Date.now() + index} FROM people WHERE email = ${EMAIL}
        ON CONFLICT (account_id, person_id) DO UPDATE SET joined_at = excluded.joined_at`,
  );

export async function createPasswordLink(
  database: Database,
  email: string,
  stop: AbortSignal,
): Promise<string> {
  const [token, now] = [createLinkToken(), Date.now()];
  const address = email.trim().toLowerCase();
  const hash = await linkHashOf(token);
  const [, made = []] = await executeOnTables(
    database,
    [
      statement`DELETE FROM password_links WHERE person_id = (SELECT id FROM people WHERE email = ${address})`,
      statement`INSERT INTO password_links (token_hash, person_id, created_at, expires_at)
          SELECT ${hash}, id, ${now}, ${now + passwordLink.lifetimeMs}
          FROM people WHERE email = ${address} RETURNING person_id`,
    ],
    stop,
  );
  if (made.length === 0)
    throw new CommandError(`No person has the address ${email}; check its spelling, or invite the person.`);
  return passwordLink.path(token);
}

async function find(db: ServiceDatabase, email: string): Promise<string> {
  const [[person]] = await db.run([selectPersonId(email.trim().toLowerCase())]);
  if (person !== undefined) return person.id;
  throw new CommandError(`No person has the address ${email}; check its spelling.`);
}

/** All stored data of the person. */
export async function* exportPersonOf(
  database: Database,
  email: string,
  stop: AbortSignal,
): AsyncGenerator<PersonRecord, void, void> {
  const db = databasePort(database, stop);
  const id = await find(db, email);
  const tenantOf = async (accountId: string) => {
    const place = await placeOf(database, accountId, stop);
    return { accountId, directory: db, db: isDirectory(place) ? db : databasePort(place, stop) };
  };
  let after: string | null = null;
  do {
    const { records, cursor } = await exportPerson(db, tenantOf, id, after);
    yield* records;
    after = cursor;
  } while (after !== null);
}

/** Turns the second factor of the person off, who then signs in by the password alone. */
export async function turnSecondFactorOff(
  database: Database,
  email: string,
  stop: AbortSignal,
): Promise<void> {
  const db = databasePort(database, stop);
  const [deleted] = await db.run([deleteFactorOf(await find(db, email))]);
  if (deleted.length === 0) throw new CommandError(`${email} has no second factor.`);
}

/** Deletes the person, unless an organization would be without an owner. */
export async function deletePersonOf(database: Database, email: string, stop: AbortSignal): Promise<void> {
  const db = databasePort(database, stop);
  const id = await find(db, email);
  const [owned, , , , deleted] = await db.run([selectOwnedAlone(id), ...deletePerson(id, Date.now())]);
  if (deleted.length > 0) return;
  const names = owned.map(({ name }) => JSON.stringify(name)).join(", ");
  throw new CommandError(
    `${email} is the only owner of ${names}. Make another member an owner, or delete the organization first.`,
  );
}

export interface FirstOwner {
  readonly accountId: string;
  readonly code: string;
  /** When the code expires, epoch ms. */
  readonly expiresAt: number;
}

/**
 * Makes a code for the first owner, which ends the earlier one, and an organization unless there is one; null once
 * anyone can sign in.
 */
export async function codeForFirstOwner(
  database: Database,
  organization: string,
  stop: AbortSignal,
): Promise<FirstOwner | null> {
  const [people = [], accounts = []] = await executeOnTables(
    database,
    [
      statement`SELECT 1 AS found FROM memberships LIMIT 1`,
      // No row is read while there are members: the condition is the same for all rows.
      statement`SELECT id FROM accounts WHERE deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM memberships)
          ORDER BY created_at LIMIT 1`,
    ],
    stop,
  );
  if (people.length > 0) return null;
  const existing = accounts[0]?.id;
  const accountId = existing === undefined ? crypto.randomUUID() : String(existing);
  const [code, now] = [createSetupCode(), Date.now()];
  const [hash, expiresAt] = [await setupHashOf(code), now + setupCode.lifetimeMs];
  const setupCodes = `${SETUP_PREFIX}*`;
  const invitation = [
    statement`DELETE FROM invitations WHERE token_hash GLOB ${setupCodes}`,
    statement`INSERT INTO invitations (id, account_id, role, token_hash, created_at, expires_at)
        VALUES (${crypto.randomUUID()}, ${accountId}, 'owner', ${hash}, ${now}, ${expiresAt})`,
  ];
  const creation = statement`INSERT INTO accounts (id, name, created_at) VALUES (${accountId}, ${organization}, ${now})`;
  await executeOnTables(database, existing === undefined ? [creation, ...invitation] : invitation, stop);
  return { accountId, code, expiresAt };
}
