/** Erases what is kept of a user. */

import { AppError } from "../../platform/errors.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { deleteFilesOfUser } from "../files/storage/garbage-collection.ts";
import { eraseUser } from "../users/deletion-commands.ts";
import type { PrivacyContext } from "./context.ts";

/** Each chunk has at most a thousand files. */
const CHUNKS_PER_REQUEST = 50;
const RETRY_SECONDS = 1;

/**
 * Deletes a user with what they wrote. The user goes first, so that nothing is added meanwhile. Repeating it continues:
 * RATE_LIMITED when files are left. NOT_FOUND without the room.
 */
export async function erasePersonalData(
  ctx: PrivacyContext,
  roomId: string,
  userId: string,
): Promise<Record<string, never>> {
  await eraseUser(ctx, roomId, userId);
  if (await deleteFilesOfUser(ctx, roomId, userId, new WorkBudget(CHUNKS_PER_REQUEST))) return {};
  const why = "Very many files of this user are left; send the request again to continue";
  throw new AppError("Users", "RATE_LIMITED", why, RETRY_SECONDS);
}
