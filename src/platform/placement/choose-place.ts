/** Chooses the database of a new organization. */

import { placeOrganizationsIn } from "../config/organizations.ts";
import type { Settings } from "../config/settings.ts";
import type { Database } from "../d1/d1.ts";
import { type DatabaseBindings, DIRECTORY, openAll } from "./databases.ts";

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
