/** Places new organizations: in which database, and what that one needs before the directory knows of it. */
import type { Tenant } from "../d1/d1.ts";
import type { Place } from "./choose-place.ts";
import { DIRECTORY } from "./databases.ts";
import { deletePlaced, insertPlaced } from "./store.ts";

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
