/** The first owner of a new deployment: a link by which that person signs up, made directly in the database. */
import {
  createLinkToken,
  INVITATION_LIFETIME_MS,
  invitationPath,
  linkHashOf,
} from "../features/people/links.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";

/** While no one can sign in, an organization and an open invitation are what a deployment lacks. */
export interface FirstOwner {
  readonly accountId: string;
  /** The link's path below the address of the service. */
  readonly path: string;
}

/**
 * Makes a link for the first owner, and their organization unless there is one; null once anyone can sign in. Run again
 * before the link was used, this makes another link: the earlier one works as well, until it expires.
 */
export async function linkForFirstOwner(
  database: Database,
  organization: string,
  stop: AbortSignal,
): Promise<FirstOwner | null> {
  const [people = [], accounts = []] = await executeOnTables(
    database,
    [
      "SELECT 1 AS found FROM memberships LIMIT 1",
      // With members, no row is read: the condition is the same for all of them.
      `SELECT id FROM accounts WHERE deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM memberships)
       ORDER BY created_at LIMIT 1`,
    ],
    stop,
  );
  if (people.length > 0) return null;
  const existing = accounts[0]?.id;
  const accountId = existing === undefined ? crypto.randomUUID() : String(existing);
  const [token, now] = [createLinkToken(), Date.now()];
  const [id, account, hash] = [crypto.randomUUID(), accountId, await linkHashOf(token)].map(quoteSql);
  const invitation = `INSERT INTO invitations (id, account_id, role, token_hash, created_at, expires_at)
    VALUES (${id}, ${account}, 'owner', ${hash}, ${now}, ${now + INVITATION_LIFETIME_MS})`;
  const creation = `INSERT INTO accounts (id, name, created_at) VALUES (${account}, ${quoteSql(organization)}, ${now})`;
  await executeOnTables(database, existing === undefined ? [creation, invitation] : [invitation], stop);
  return { accountId, path: invitationPath(token) };
}
