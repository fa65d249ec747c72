/** Makes a link for a new password directly in the database: for the operator, who may make one for any person. */

import {
  createLinkToken,
  linkHashOf,
  PASSWORD_LINK_LIFETIME_MS,
  passwordLinkPath,
} from "../features/people/links.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";
import { CommandError } from "./process/command.ts";

/** Returns the link's path below the address of the service. */
export async function createPasswordLink(
  database: Database,
  email: string,
  stop: AbortSignal,
): Promise<string> {
  const [token, now] = [createLinkToken(), Date.now()];
  const address = quoteSql(email.trim().toLowerCase());
  const [, made = []] = await executeOnTables(
    database,
    [
      `DELETE FROM password_links WHERE person_id = (SELECT id FROM people WHERE email = ${address})`,
      `INSERT INTO password_links (token_hash, person_id, created_at, expires_at)
       SELECT ${quoteSql(await linkHashOf(token))}, id, ${now}, ${now + PASSWORD_LINK_LIFETIME_MS}
       FROM people WHERE email = ${address} RETURNING person_id`,
    ],
    stop,
  );
  if (made.length === 0)
    throw new CommandError(`No person has the address ${email}; check its spelling, or invite the person.`);
  return passwordLinkPath(token);
}
