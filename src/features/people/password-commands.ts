/** Verifies and replaces passwords: the person's own, and forgotten ones by a link. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type {
  NewPasswordByLink,
  PasswordByLink,
  PasswordChange,
  PasswordLinkRequest,
} from "@atrium/contract/rest/people.ts";
import { MINUTE_MS, presentTime } from "@atrium/contract/time.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { layOut, type Mail } from "../mail/mail.ts";
import { insertMail, personWithAddress } from "../mail/statements.ts";
import { planSignIn, requirePasswords } from "./commands.ts";
import type { DashboardContext, PersonContext, WaysToSignIn } from "./context.ts";
import { knownBrowserOf } from "./cookies.ts";
import { createLinkToken, linkHashOf, passwordLink } from "./links.ts";
import { evictPerson } from "./sessions.ts";
import {
  deletePasswordLinksOf,
  deleteSignInsOf,
  insertPasswordLink,
  insertRequestedLink,
  passwordIs,
  passwordSuffices,
  replacePassword,
  selectIsMember,
  selectOpenPasswordLink,
  selectPassword,
  updatePassword,
} from "./store.ts";

/** A session that is not older proves the person who has no password. */
const FRESH_SESSION_MS = 10 * MINUTE_MS;

/**
 * Requires that the person of the session asks: they prove it by their password, which counts as a guess, or, without
 * one, by having signed in within the last 10 minutes. Throws `refusal` for a wrong password, FORBIDDEN for an older
 * session.
 */
export async function requireProof(ctx: PersonContext, password: string | undefined, refusal: AppError) {
  const { personId, email, beganAt } = ctx.person;
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const guess = await ctx.limits.countPassword(email, browser);
  const [[row]] = await ctx.db.run([selectPassword(personId)]);
  const stored = row?.password ?? null;
  if (stored !== null && ctx.hasPasswords) {
    if (!(await guess.verify(password ?? "", stored))) throw refusal;
  } else if (ctx.now() - beganAt > FRESH_SESSION_MS) {
    const why = "Sign in again first; without a password, this needs a sign-in within the last 10 minutes";
    throw new AppError("Auth", "FORBIDDEN", why);
  }
  return { stored, guess };
}

/**
 * Replaces the password, or sets the first one, and replaces all sign-in sessions: all or nothing. VALIDATION_ERROR for
 * a wrong current one.
 */
export async function changePassword(ctx: PersonContext, { current, next }: PasswordChange) {
  requirePasswords(ctx);
  const { personId, email } = ctx.person;
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "current: this is not your password");
  const { stored, guess } = await requireProof(ctx, current, refusal);
  const hash = await guess.hash(next);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, passwordIs(personId, hash));
  const [, , begun] = await ctx.db.run([
    updatePassword(stored, ctx.newId(), personId, hash, ctx.now()),
    deleteSignInsOf(personId, hash),
    ...statements,
    deletePasswordLinksOf(personId),
  ]);
  evictPerson(personId);
  if (begun.length === 0) throw refusal;
  return { data: {}, cookies };
}

const linkGone = () =>
  new AppError("Auth", "NOT_FOUND", "This link was used or replaced, or has expired; ask for a new one");

/**
 * Makes a link for a member who forgot their password, and ends their earlier links. Only this response contains it.
 * FORBIDDEN for a member of further organizations, unless the owner who asks owns those too, and where there are no
 * passwords. CONFLICT for oneself.
 */
export async function createPasswordLink(ctx: RequestContext & WaysToSignIn, personId: string) {
  requirePasswords(ctx);
  const createdBy = ctx.actor.type === "person" ? ctx.actor.personId : null;
  if (createdBy === personId)
    throw new AppError(
      "Accounts",
      "CONFLICT",
      "You are signed in; change your own password in Settings, Sign-in",
    );
  const [token, now] = [createLinkToken(), ctx.now()];
  const expiresAt = now + passwordLink.lifetimeMs;
  const data = { url: ctx.origin + passwordLink.path(token), expires_at: presentTime(expiresAt) };
  const [isMember] = await ctx.db.run([selectIsMember(ctx, personId)]);
  if (isMember.length === 0) throw notFound("Accounts", "Member");
  const { accountId } = ctx;
  const row = {
    tokenHash: await linkHashOf(token),
    personId,
    accountId,
    createdBy,
    createdByKey: ctx.actor.type === "key" ? ctx.actor.keyId : null,
    createdAt: now,
    expiresAt,
  };
  const [made] = await ctx.commit(insertPasswordLink(row), data);
  if (made.length === 0)
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      "This person is also a member of an organization that you do not own, so you cannot reset their password; remove them here, and invite them under another address",
    );
  return data;
}

async function getPasswordLink(db: Database, token: string, now: number) {
  const linkHash = await linkHashOf(token);
  const [[link]] = await db.run([selectOpenPasswordLink(linkHash, now)]);
  if (link === undefined) throw linkGone();
  return { ...link, linkHash };
}

/** The person whose password a link changes. NOT_FOUND when it is not valid any more. */
export async function previewPasswordLink({ db, now }: DashboardContext, token: string) {
  const { name, email } = await getPasswordLink(db, token, now());
  return { data: { name, email } };
}

/**
 * Sets a new password and ends all sign-in sessions, once: all or nothing. A new session begins unless the person has a
 * second factor, which a link does not replace. NOT_FOUND for an invalid link.
 */
export async function setPasswordByLink(
  ctx: DashboardContext,
  token: string,
  { password }: NewPasswordByLink,
) {
  requirePasswords(ctx);
  const guess = await ctx.limits.countInvitation();
  const { personId, email, linkHash } = await getPasswordLink(ctx.db, token, ctx.now());
  const hash = await guess.hash(password);
  const proof = passwordSuffices(personId, hash);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, proof);
  const [changed, , begun] = await ctx.db.run([
    replacePassword(linkHash, ctx.newId(), personId, hash, ctx.now()),
    deleteSignInsOf(personId, hash),
    ...statements,
    deletePasswordLinksOf(personId),
  ]);
  evictPerson(personId);
  if (changed.length === 0) throw linkGone();
  await guess.forgive();
  const data: PasswordByLink = { signed_in: begun.length > 0 };
  return data.signed_in ? { data, cookies } : { data };
}

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
 * Mails a link to the person with an address. The answer and its time are the same when no person has it.
 * RATE_LIMITED after several mails to the address or for the network. NOT_FOUND when the deployment sends no
 * mail.
 */
export async function requestPasswordLink(ctx: DashboardContext, { email, challenge }: PasswordLinkRequest) {
  requirePasswords(ctx);
  const outbox = ctx.mail();
  if (outbox === null) {
    const why = "This service sends no mail; ask an owner of your organization for a link";
    throw new AppError("Auth", "NOT_FOUND", why);
  }
  await ctx.challenge().requirePassed(challenge);
  await ctx.limits.countMail(email);
  const [token, now] = [createLinkToken(), ctx.now()];
  const expiresAt = now + passwordLink.lifetimeMs;
  const facts = { id: ctx.newId(), accountId: null, topic: "password", createdAt: now, expiresAt };
  const mail = await outbox.seal(facts, passwordMail(email, outbox.origin + passwordLink.path(token)));
  await ctx.db.run([
    insertRequestedLink(email, { tokenHash: await linkHashOf(token), createdAt: now, expiresAt }),
    insertMail(mail, personWithAddress(email)),
  ]);
  ctx.defer(outbox.send(ctx.db, now));
  return { data: {} };
}
