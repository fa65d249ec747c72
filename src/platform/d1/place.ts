/** Places new organizations: in which database, and what that one needs before the directory knows of it. */

import { placeOrganizationsIn } from "../config/organizations.ts";
import type { Settings } from "../config/settings.ts";
import type { Database, Tenant } from "./d1.ts";
import { type DatabaseBindings, DIRECTORY, openAll } from "./databases.ts";
import { deletePlaced, insertPlaced } from "./placement-store.ts";

/**
 * Commits a new organization in the directory, after the row that its things will refer to is where it is placed. If it
 * is not committed, that row goes again; a crash in between leaves it, unreachable.
 */
export async function commitPlaced(
  { name, db }: Place,
  organization: { readonly id: string; readonly name: string },
  now: number,
  commit: () => Promise<unknown>,
): Promise<void> {
  if (name === DIRECTORY) {
    await commit();
    return;
  }
  await db.run([insertPlaced(organization.id, organization.name, now)]);
  try {
    await commit();
  } catch (error) {
    await db.run(deletePlaced(organization.id)).catch(() => undefined);
    throw error;
  }
}

/** Removes an organization that owns nothing any more from its database beside the directory; false while it owns something. */
export async function removePlaced({ db, accountId }: Tenant): Promise<boolean> {
  const [, left] = await db.run(deletePlaced(accountId));
  return left.length === 0;
}

/** A database for a new organization. */
export interface Place {
  /** Its binding. */
  readonly name: string;
  readonly db: Database;
}

/** Where the next organization goes: at random into one of those that the settings allow. Throws when one is not bound. */
export function choosePlace(env: DatabaseBindings & Settings): Place {
  const all = openAll(env);
  const allowed = placeOrganizationsIn(env);
  const choices = allowed.length === 0 ? [...all.keys()] : allowed;
  const name = choices[Math.floor(Math.random() * choices.length)] ?? DIRECTORY;
  const db = all.get(name);
  if (db === undefined)
    throw new Error(
      `The setting PLACE_ORGANIZATIONS_IN names ${name}, which is not bound; bind it, or remove it`,
    );
  return { name, db };
}
