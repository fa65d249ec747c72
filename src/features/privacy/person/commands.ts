/** Deletes the person who is signed in. */

import { AppError } from "../../../platform/errors.ts";
import { verifyOwnPassword } from "../../people/password-commands.ts";
import type { DashboardResult, PersonContext } from "../../people/person-context.ts";
import { expiredCookie } from "../../people/sign-in-cookie.ts";
import { evictPerson } from "../../people/verify-cookie.ts";
import { deletePerson, selectOwnedAlone } from "./shared-store.ts";

/**
 * Deletes the person with everything but their name in audit logs. VALIDATION_ERROR for a wrong password, CONFLICT while
 * the person is the only owner of an organization.
 */
export async function deleteMe(
  ctx: PersonContext,
  password: string,
): Promise<DashboardResult<Record<string, never>>> {
  const { personId } = ctx.person;
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "password: this is not your password");
  const { guess } = await verifyOwnPassword(ctx, password, refusal);
  await guess.forgive();
  const [owned, , , , deleted] = await ctx.db.run([
    selectOwnedAlone(personId),
    ...deletePerson(personId, ctx.now()),
  ]);
  if (deleted.length === 0) throw ownsAlone(owned.map(({ name }) => name));
  evictPerson(personId);
  return { data: {}, cookies: [expiredCookie()] };
}

const ownsAlone = (names: readonly string[]) =>
  new AppError(
    "Auth",
    "CONFLICT",
    `You are the only owner of ${names.join(", ")}; make another member an owner, or delete the organization first`,
  );
