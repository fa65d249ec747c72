/** For how long a webhook has done nothing but fail; pure. */
import { hasFailedTooLong } from "./retry.ts";

/** Kept with the webhook's object, as JSON. */
export interface Health {
  /** Epoch milliseconds of the first failure after which nothing has succeeded; null while nothing fails. */
  readonly failingSince: number | null;
  /** The version of the webhook's row that this is about: with a change to it, its receiver is given new time. */
  readonly version: number;
}

/** After an attempt at `now` (epoch ms) with the row as of `version`. */
export function judgeHealth(
  before: Health,
  attempt: { readonly hasFailed: boolean; readonly version: number; readonly now: number },
): Health & { readonly isHopeless: boolean } {
  const { hasFailed, version, now } = attempt;
  const known = before.version === version ? before.failingSince : null;
  const failingSince = hasFailed ? (known ?? now) : null;
  return { failingSince, version, isHopeless: hasFailedTooLong(failingSince, now) };
}
