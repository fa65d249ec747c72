/** The queries about members, invitations, and a member's wish for notices by mail. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Database, Page } from "../../platform/d1/d1.ts";
import { requireRestored } from "../../platform/token-claims.ts";
import type { PersonContext } from "../people/context.ts";
import { linkHashOf } from "../people/links.ts";
import { presentInvitation, presentMember } from "./present.ts";

import {
  countInvitations,
  countMembers,
  positionOfInvitation,
  positionOfMember,
  selectInvitations,
  selectMember,
  selectMembers,
  selectOpenInvitation,
} from "./store.ts";

export const invitationGone = () =>
  new AppError(
    "Accounts",
    "NOT_FOUND",
    "This invitation was used or withdrawn, or has expired; ask for a new one",
  );

export async function listMembers(ctx: RequestContext, page: Page) {
  const [rows, counted] = await ctx.db.run([selectMembers(ctx, page), countMembers(ctx, page)]);
  return { members: rows.map(presentMember), ...presentScroll(page, counted, rows, positionOfMember(page)) };
}

export async function listInvitations(ctx: RequestContext, page: Page) {
  const now = ctx.now();
  const [rows, counted] = await ctx.db.run([
    selectInvitations(ctx, now, page),
    countInvitations(ctx, now, page),
  ]);
  const scroll = presentScroll(page, counted, rows, positionOfInvitation(page));
  return { invitations: rows.map(presentInvitation), ...scroll };
}

/** The invitation of a token. NOT_FOUND when it is invalid; RATE_LIMITED during a restore, which could write it anew. */
export async function getInvitation(db: Database, token: string, now: number) {
  const [[row]] = await db.run([selectOpenInvitation(await linkHashOf(token), now)]);
  if (row === undefined) throw invitationGone();
  requireRestored(row.accountTokenEpoch);
  return row;
}

/** Whether a member receives notices by mail. NOT_FOUND unless the person is a member of the organization. */
export async function getNotices(ctx: PersonContext, accountId: string) {
  const [[member]] = await ctx.db.run([selectMember({ accountId }, ctx.person.personId)]);
  if (member === undefined) throw notFound("Accounts", "Organization");
  return { data: { wanted: member.notices === 1, by_mail: ctx.mail() !== null } };
}
