/** Exports what is kept of a person who signs in, and deletes them, directly in the database: for the operator. */

import { exportPerson } from "../features/privacy/person-queries.ts";
import { deletePerson, selectOwnedAlone, selectPersonId } from "../features/privacy/person-store.ts";
import type { PersonRecord } from "../features/privacy/schema.ts";
import type { Database as ServiceDatabase } from "../platform/d1/d1.ts";
import { type Database, databasePort, isDirectory } from "./database.ts";
import { placeOf } from "./organization.ts";
import { CommandError } from "./process/command.ts";

async function find(db: ServiceDatabase, email: string): Promise<string> {
  const [[person]] = await db.run([selectPersonId(email.trim().toLowerCase())]);
  if (person !== undefined) return person.id;
  throw new CommandError(`No person has the address ${email}; check its spelling.`);
}

/** What is kept of the person, a page at a time. */
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
