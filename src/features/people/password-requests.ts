/** Forgotten passwords where the deployment sends mail: a person asks for a link by which they choose a new one. */

import { AppError } from "../../platform/errors.ts";
import { layOut, type Mail } from "../mail/mail.ts";
import { insertMail, personWithAddress } from "../mail/mail-store.ts";
import { createLinkToken, linkHashOf } from "./link-token.ts";
import { PASSWORD_LINK_LIFETIME_MS, passwordLinkPath } from "./password-link.ts";
import { insertRequestedLink } from "./password-link-store.ts";
import type { DashboardContext, DashboardResult } from "./person-context.ts";
import type { PasswordLinkRequest } from "./schema.ts";

const NO_MAIL = "This service sends no mail; ask an owner of your organization for a link";

const passwordMail = (email: string, url: string): Mail =>
  layOut({
    subject: "Choose a new password for Atrium",
    paragraphs: [
      `A new password was requested for the account of ${email}. Open this link to choose it. It works once, within an hour.`,
    ],
    link: { label: "Choose a new password", url },
    after: ["If you did not request it, ignore this mail: your password stays as it is."],
  });

/**
 * Mails a link to the person with an address. The answer, and what it takes, are the same when no person has it.
 * RATE_LIMITED after several mails to the address or for the network. NOT_FOUND when the deployment sends no mail.
 */
export async function requestPasswordLink(
  ctx: DashboardContext,
  { email, challenge }: PasswordLinkRequest,
): Promise<DashboardResult<Record<string, never>>> {
  const outbox = ctx.mail();
  if (outbox === null) throw new AppError("Auth", "NOT_FOUND", NO_MAIL);
  await ctx.challenge().requirePassed(challenge);
  await ctx.limits.countMail(email);
  const [token, now] = [createLinkToken(), ctx.now()];
  const expiresAt = now + PASSWORD_LINK_LIFETIME_MS;
  const facts = { id: ctx.newId(), accountId: null, topic: "password", createdAt: now, expiresAt };
  const mail = await outbox.seal(facts, passwordMail(email, outbox.origin + passwordLinkPath(token)));
  await ctx.db.run([
    insertRequestedLink(email, { tokenHash: await linkHashOf(token), createdAt: now, expiresAt }),
    insertMail(mail, personWithAddress(email)),
  ]);
  ctx.defer(outbox.send(ctx.db, now));
  return { data: {} };
}
