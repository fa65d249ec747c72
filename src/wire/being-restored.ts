/** Organizations that are being restored from a backup: whatever of them is there already, no one has access to it yet. */
import { AppError } from "../platform/errors.ts";

/**
 * The token epoch of an organization that is being restored, later than any other: no token is of it, and every
 * credential is refused whose organization has it. The last step of a restore puts the real one in its place.
 */
export const RESTORING_EPOCH = Number.MAX_SAFE_INTEGER;

const RETRY_SECONDS = 30;

/** For the API; sockets are refused in the same words. */
export const beingRestored = (): AppError =>
  new AppError(
    "Accounts",
    "RATE_LIMITED",
    "The organization is being restored from a backup, and is closed until that is complete; try again later",
    RETRY_SECONDS,
  );

/** Throws {@link beingRestored} if this is the token epoch of such an organization. */
export function requireRestored(accountTokenEpoch: number | null | undefined): void {
  if (accountTokenEpoch === RESTORING_EPOCH) throw beingRestored();
}
