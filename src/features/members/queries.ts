/** The queries about members and invitations. */

import { type PresentedScroll, presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Database, Page } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import { requireRestored } from "../../wire/token-claims.ts";
import { linkHashOf } from "../people/links.ts";
import { type Invitation, type Member, presentInvitation, presentMember } from "./schema.ts";
import {
  countInvitations,
  countMembers,
  type OpenInvitation,
  positionOfInvitation,
  positionOfMember,
  selectInvitations,
  selectMembers,
  selectOpenInvitation,
} from "./store.ts";

/** The error for an invitation that was used, withdrawn, has expired or never existed. */
export const invitationGone = () =>
  new AppError(
    "Accounts",
    "NOT_FOUND",
    "This invitation was used or withdrawn, or has expired; ask for a new one",
  );

/** The organization's members, the most recent first unless the page says otherwise. */
export async function listMembers(
  ctx: RequestContext,
  page: Page,
): Promise<{ members: Member[] } & PresentedScroll> {
  const [rows, counted] = await ctx.db.run([selectMembers(ctx, page), countMembers(ctx, page)]);
  return { members: rows.map(presentMember), ...presentScroll(page, counted, rows, positionOfMember(page)) };
}

/** The organization's valid invitations, newest first. */
export async function listInvitations(
  ctx: RequestContext,
  page: Page,
): Promise<{ invitations: Invitation[] } & PresentedScroll> {
  const now = ctx.now();
  const [rows, counted] = await ctx.db.run([
    selectInvitations(ctx, now, page),
    countInvitations(ctx, now, page),
  ]);
  return {
    invitations: rows.map(presentInvitation),
    ...presentScroll(page, counted, rows, positionOfInvitation(page)),
  };
}

/**
 * The invitation that a link's token belongs to. NOT_FOUND when it is not valid any more, RATE_LIMITED while its
 * organization is being restored: the restore would write an invitation anew that is used up meanwhile.
 */
export async function getInvitation(db: Database, token: string, now: number): Promise<OpenInvitation> {
  const [[row]] = await db.run([selectOpenInvitation(await linkHashOf(token), now)]);
  if (row === undefined) throw invitationGone();
  requireRestored(row.accountTokenEpoch);
  return row;
}
