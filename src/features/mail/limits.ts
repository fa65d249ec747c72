/** Limits on the mails about notifications: an organization's back end causes them, and chooses the addresses. */

import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { countMail } from "./statements.ts";

/** Mails of one organization in 24 hours, and those to one address. */
const MAILS_A_DAY = { total: 10_000, perRecipient: 100 };

/** Counts a mail to an address. False, without counting it, when the organization has sent too many. */
export async function takeFromLimits(
  directory: Database,
  accountId: string,
  address: string,
  now: number,
): Promise<boolean> {
  const recipient = await sha256(new TextEncoder().encode(`${accountId} ${address.toLowerCase()}`));
  const [counted] = await directory.run([countMail({ accountId, recipient, now, ...MAILS_A_DAY })]);
  return counted.length > 0;
}
