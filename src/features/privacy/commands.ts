/** Erases what is kept of a user. */
import { AppError } from "../../platform/errors.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { deleteFurtherFiles } from "../files/storage/garbage-collection.ts";
import type { PersonContext } from "../people/context.ts";
import { expiredCookie } from "../people/cookies.ts";
import { verifyOwnPassword } from "../people/password-commands.ts";
import { evictPerson } from "../people/sessions.ts";
import { eraseUser } from "../users/commands.ts";
import { deletePerson, selectOwnedAlone } from "./person-store.ts";
import type { PrivacyContext } from "./queries.ts";

/** Each chunk has at most a thousand files. */
const CHUNKS_PER_REQUEST = 50;
const RETRY_SECONDS = 1;

/** Deletes a user, then their content. RATE_LIMITED when files are left: repeat it. NOT_FOUND without the room. */
export async function erasePersonalData(ctx: PrivacyContext, roomId: string, userId: string) {
  await eraseUser(ctx, roomId, userId);
  if (await deleteFurtherFiles(ctx, roomId, new WorkBudget(CHUNKS_PER_REQUEST), userId)) return {};
  const why = "Very many files of this user are left; send the request again to continue";
  throw new AppError("Users", "RATE_LIMITED", why, RETRY_SECONDS);
}

/** Deletes the person but for audit logs. VALIDATION_ERROR for a wrong password, CONFLICT for an only owner. */
export async function deleteMe(ctx: PersonContext, password: string) {
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
