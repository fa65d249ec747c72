/** Where a person is signed in: the list of their sign-in sessions, and ends of them. */

import { notFound } from "@atrium/contract/errors.ts";
import type { OwnSignIns } from "@atrium/contract/rest/people.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { PersonContext } from "./context.ts";
import { evictPerson } from "./sessions.ts";
import { deleteOtherSignIns, deleteOwnSignIn, selectSignInsOf } from "./store.ts";

/** More than a person looks through; ending all others ends those beyond as well. */
const MAX_LISTED = 100;

/** The present one first, then the latest used ones. */
export async function listSignIns({ db, person, now }: PersonContext): Promise<{ data: OwnSignIns }> {
  const [rows] = await db.run([selectSignInsOf(person, now(), MAX_LISTED)]);
  const sessions = rows.map(({ id, browser, createdAt, updatedAt, isCurrent }) => ({
    ...{ id, browser, is_current: isCurrent === 1 },
    ...{ created_at: presentTime(createdAt), last_used_at: presentTime(updatedAt) },
  }));
  return { data: { sessions } };
}

/** Ends one of the person's sign-in sessions, also the present one. NOT_FOUND when it has ended. */
export async function endSignIn({ db, person }: PersonContext, id: string) {
  const [ended] = await db.run([deleteOwnSignIn(person.personId, id)]);
  evictPerson(person.personId);
  if (ended.length === 0) throw notFound("Auth", "Session");
  return { data: {} };
}

/** Ends all sign-in sessions of the person but the present one, and returns their number. */
export async function endOtherSignIns({ db, person }: PersonContext) {
  const [ended] = await db.run([deleteOtherSignIns(person)]);
  evictPerson(person.personId);
  return { data: { ended: ended.length } };
}
