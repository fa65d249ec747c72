/** Forgotten passwords: an owner makes a link by which a member of the organization chooses a new one, once. */
import { type RequestContext, requireOwner } from "../../platform/context/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { expire } from "../../platform/d1/expiry.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import { createLinkToken, linkHashOf } from "./link-token.ts";
import { planNewPassword } from "./password-commands.ts";
import { PASSWORD_LINK_LIFETIME_MS, passwordLinkPath } from "./password-link.ts";
import {
  deletePasswordLinksOf,
  insertPasswordLink,
  type OpenPasswordLink,
  PASSWORD_LINKS,
  selectIsMember,
  selectOpenPasswordLink,
} from "./password-link-store.ts";
import type { DashboardContext, DashboardResult } from "./person-context.ts";
import type { NewPasswordByLink, PasswordLinkPreview } from "./schema.ts";
import { evictPerson } from "./verify-cookie.ts";

const linkGone = () =>
  new AppError("Auth", "NOT_FOUND", "This link was used or replaced, or has expired; ask for a new one");

/**
 * Makes a link for a member who forgot their password, and ends their earlier links. Only this response contains it.
 * FORBIDDEN for a member of further organizations, unless the owner who asks owns those too. CONFLICT for oneself.
 */
export async function createPasswordLink(
  ctx: RequestContext,
  personId: string,
): Promise<{ url: string; expires_at: string }> {
  requireOwner(ctx);
  const createdBy = ctx.actor.type === "person" ? ctx.actor.personId : null;
  if (createdBy === personId) throw ownPassword();
  const [token, now] = [createLinkToken(), ctx.now()];
  const expiresAt = now + PASSWORD_LINK_LIFETIME_MS;
  const data = {
    url: ctx.origin + passwordLinkPath(token),
    expires_at: presentTime(expiresAt),
  };
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
  if (made.length === 0) throw ofOtherOrganizations();
  return data;
}

const ownPassword = () =>
  new AppError("Accounts", "CONFLICT", "You are signed in; change your own password in Settings, Profile");

const ofOtherOrganizations = () =>
  new AppError(
    "Auth",
    "FORBIDDEN",
    "This person is also a member of an organization that you do not own, so you cannot reset their password; remove them here, and invite them under another address",
  );

async function getPasswordLink(db: Database, token: string, now: number): Promise<OpenPasswordLink> {
  const [[link]] = await db.run([selectOpenPasswordLink(await linkHashOf(token), now)]);
  if (link === undefined) throw linkGone();
  return link;
}

/** Whose password a link changes. NOT_FOUND when it is not valid any more. */
export async function previewPasswordLink(
  { db, now }: DashboardContext,
  token: string,
): Promise<DashboardResult<PasswordLinkPreview>> {
  const { name, email } = await getPasswordLink(db, token, now());
  return { data: { name, email } };
}

/**
 * Sets a new password by a link, which it uses up, ends all of the person's sign-in sessions, and begins one in this
 * browser: all or nothing. NOT_FOUND when the link is not valid any more.
 */
export async function setPasswordByLink(
  ctx: DashboardContext,
  token: string,
  { password }: NewPasswordByLink,
): Promise<DashboardResult<Record<string, never>>> {
  const guess = await ctx.limits.countInvitation();
  const { personId, email } = await getPasswordLink(ctx.db, token, ctx.now());
  const condition = selectOpenPasswordLink(await linkHashOf(token), ctx.now());
  const { cookies, statements } = await planNewPassword(ctx, { id: personId, email }, password, condition);
  const [, , begun] = await ctx.db.run([...statements, deletePasswordLinksOf(personId)]);
  evictPerson(personId);
  if (begun.length === 0) throw linkGone();
  await guess.forgive();
  return { data: {}, cookies };
}

/** Deletes links that have expired. */
export const purgeExpiredPasswordLinks = (db: Database, now: number): Promise<unknown> =>
  expire(db, PASSWORD_LINKS, now);
