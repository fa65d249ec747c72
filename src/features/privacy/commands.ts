/** Erases the personal data of a user, of an identity in all rooms, and of a person. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { PersonDeletion } from "@atrium/contract/rest/privacy.ts";
import { relayToRooms } from "../../delivery/outbox/outbox.ts";
import { insertForOnlineRooms } from "../../delivery/outbox/outbox-store.ts";
import { forEachConcurrently } from "../../platform/flow/concurrency.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { deleteFilesOfUsers } from "../files/storage/garbage-collection.ts";
import { removeIdentity } from "../identities/commands.ts";
import { findIdentity, findUsersOf, noIdentity } from "../identities/queries.ts";
import type { PersonContext } from "../people/context.ts";
import { expiredCookie } from "../people/cookies.ts";
import { requireProof } from "../people/password-commands.ts";
import { evictPerson } from "../people/sessions.ts";
import { proveFactor, wrongCode } from "../second-factor/prove.ts";
import { eraseUser } from "../users/commands.ts";
import type { PrivacyContext } from "./queries.ts";
import { deletePerson, selectOwnedAlone } from "./statements.ts";

/** Each chunk has at most a thousand files. */
const CHUNKS_PER_REQUEST = 50;
const RETRY_SECONDS = 1;

const again = (of: "Users" | "Identities", what: string) =>
  new AppError(of, "RATE_LIMITED", `${what}; send the request again to continue`, RETRY_SECONDS);

/** Deletes a user, then their content. RATE_LIMITED when files are left: repeat it. NOT_FOUND without the room. */
export async function erasePersonalData(ctx: PrivacyContext, roomId: string, userId: string) {
  if ((await eraseUser(ctx, roomId, userId)) === null) throw notFound("Rooms", "Room");
  const user = { id: userId, roomId };
  if (await deleteFilesOfUsers(ctx, [user], new WorkBudget(CHUNKS_PER_REQUEST))) return {};
  throw again("Users", "Very many files of this user are left");
}

/** Each room takes a trip to D1 and a call of its object. */
const ROOMS_PER_REQUEST = 600;
const OTHER_ROOMS_PER_REQUEST = 200;
const USERS_AT_ONCE = 50;
const CONCURRENCY = 10;

/**
 * Deletes an identity, then its users in all rooms with their content. The deletion is stored as a command for each
 * room: after a crash, the cron trigger goes on. Also finds the users of an identity that was deleted before.
 * RATE_LIMITED when rooms or files are left: repeat it. NOT_FOUND without the identity and without users.
 */
export async function eraseIdentity(ctx: PrivacyContext, identityId: string) {
  const isKnown = (await findIdentity(ctx, { id: identityId })) !== null;
  // The commands are in the batch of the deletion: no later mention escapes them, and a crash loses none.
  const removed = await removeIdentity(
    ctx,
    identityId,
    0,
    isKnown ? commandElsewhere(ctx, identityId) : null,
  );
  let pending = isKnown ? await eraseElsewhere(ctx, identityId, removed?.erasing ?? []) : 0;
  // Events of many users take too many calls for a request: the cron trigger relays them within its budget.
  const withoutRelay = { ...ctx, relayEvents: () => Promise.resolve() };
  const files = new WorkBudget(CHUNKS_PER_REQUEST);
  let [rooms, isLeft] = [0, true];
  while (isLeft && rooms < ROOMS_PER_REQUEST) {
    // The first one alone: if the identity was deleted before, the audit log gets its one entry then.
    const limit = rooms === 0 ? 1 : USERS_AT_ONCE;
    const found = await findUsersOf(ctx, identityId, "", limit + 1);
    const users = found.slice(0, limit);
    if (!(await deleteFilesOfUsers(ctx, users, files)))
      throw again("Identities", "Very many files of this identity are left");
    await forEachConcurrently(CONCURRENCY, users, async (user) => {
      if ((await eraseUser(withoutRelay, user.roomId, user.id, identityId)) === false) pending += 1;
    });
    rooms += users.length;
    isLeft = found.length > limit;
  }
  if (!isKnown && rooms === 0) throw noIdentity();
  if (isLeft) throw again("Identities", `${rooms} rooms are done, and others are left`);
  if (!isKnown) {
    const [erasing] = await ctx.db.run([commandElsewhere(ctx, identityId)]);
    pending += await eraseElsewhere(ctx, identityId, erasing);
  }
  return { pending_rooms: pending };
}

/**
 * Writes commands that remove traces of an identity in rooms where it has no user: mentions, read positions and
 * settings over REST. D1 does not know the rooms that mention it: even a guest can be in rooms that its link
 * does not open.
 */
function commandElsewhere(ctx: PrivacyContext, identityId: string) {
  const command = JSON.stringify(erasedElsewhere(identityId));
  return insertForOnlineRooms({ accountId: ctx.accountId, command, at: ctx.now() });
}

const erasedElsewhere = (identityId: string) => ({ type: "identity.erased", identityId }) as const;

/** Relays these commands. Returns the number of rooms that are left to the cron trigger. */
async function eraseElsewhere(
  ctx: PrivacyContext,
  identityId: string,
  erasing: readonly { readonly id: string; readonly roomId: string; readonly isUnfinished: 0 | 1 }[],
): Promise<number> {
  const complete = erasing.filter(({ isUnfinished }) => isUnfinished === 0);
  const left = await relayToRooms(ctx, erasedElsewhere(identityId), complete, OTHER_ROOMS_PER_REQUEST);
  return left + erasing.length - complete.length;
}

/**
 * Deletes the person but for audit logs. Errors as of `requireProof`; VALIDATION_ERROR for a missing or wrong code,
 * CONFLICT for an only owner.
 */
export async function deleteMe(ctx: PersonContext, { password, code }: PersonDeletion) {
  const { personId, email } = ctx.person;
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "password: this is not your password");
  await requireProof(ctx, password, refusal);
  const { proof } = await proveFactor(ctx, { id: personId, email }, code);
  const [owned, , , , deleted] = await ctx.db.run([
    selectOwnedAlone(personId),
    ...deletePerson(personId, ctx.now(), proof),
  ]);
  if (owned.length > 0) throw ownsAlone(owned.map(({ name }) => name));
  if (deleted.length === 0) throw wrongCode();
  evictPerson(personId);
  return { data: {}, cookies: [expiredCookie()] };
}

const ownsAlone = (names: readonly string[]) =>
  new AppError(
    "Auth",
    "CONFLICT",
    `You are the only owner of ${names.join(", ")}; make another member an owner, or delete the organization first`,
  );
