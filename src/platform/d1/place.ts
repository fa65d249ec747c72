/** Chooses and prepares the database of a new organization. */

import { logError } from "../log.ts";
import { readSetting, type Settings } from "../settings.ts";
import type { Database, Tenant } from "./d1.ts";
import { type DatabaseBindings, DIRECTORY, openAll } from "./databases.ts";
import { deletePlaced, insertPlaced } from "./placement-store.ts";

/** Writes the row in the organization's database first, and takes it back if the commit fails. */
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
    await db.run(deletePlaced(organization.id)).catch((failure: unknown) => {
      logError(
        "An organization that was not created stays in its database",
        { account: organization.id },
        failure,
      );
    });
    throw error;
  }
}

/** False while the organization still owns something there. */
export async function removePlaced({ db, accountId }: Tenant): Promise<boolean> {
  const [, left] = await db.run(deletePlaced(accountId));
  return left.length === 0;
}

export interface Place {
  readonly name: string;
  readonly db: Database;
}

/** A random one of the allowed databases. Throws when one is not bound. */
export function choosePlace(env: DatabaseBindings & Settings): Place {
  const all = openAll(env);
  const allowed = readSetting(env, "PLACE_ORGANIZATIONS_IN");
  const choices = allowed.length === 0 ? [...all.keys()] : allowed;
  const name = choices[Math.floor(Math.random() * choices.length)] ?? DIRECTORY;
  const db = all.get(name);
  if (db === undefined)
    throw new Error(
      `The setting PLACE_ORGANIZATIONS_IN names ${name}, which is not bound; bind it, or remove it`,
    );
  return { name, db };
}
