/** The queries of passkeys. */
import type { PersonContext } from "../people/context.ts";
import { presentPasskey } from "./present.ts";
import { selectPasskeys } from "./store.ts";

/** The person's own passkeys, newest first. */
export async function listPasskeys({ db, person }: PersonContext) {
  const [rows] = await db.run([selectPasskeys(person.personId)]);
  return { data: { passkeys: rows.map(presentPasskey) } };
}
