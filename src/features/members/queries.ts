/** The queries about members, invitations, and a member's wish for notices by mail. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Database, Page } from "../../platform/d1/d1.ts";
import { requireRestored } from "../../platform/token-claims.ts";
import type { PersonContext } from "../people/context.ts";
import { SETUP_PREFIX } from "../people/links.ts";
import { markWatched } from "../rooms/statements.ts";
import { selectAccountTokenEpoch } from "../users/statements.ts";
import { tokensFor, WATCH_SECONDS } from "../users/tokens.ts";
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

/** The refusal of an invitation or of the first owner's code, whatever ended it. */
export const invitationGone = (hash: string) =>
  hash.startsWith(SETUP_PREFIX)
    ? new AppError(
        "Auth",
        "VALIDATION_ERROR",
        "code: this code is wrong, was used, or has expired. As long as no one can sign in, `npm run deploy` prints a new one",
      )
    : new AppError(
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

/**
 * The invitation with a hash. Throws {@link invitationGone} when it is invalid; RATE_LIMITED during a restore, which
 * could write it anew.
 */
export async function getInvitation(db: Database, hash: string, now: number) {
  const [[row]] = await db.run([selectOpenInvitation(hash, now)]);
  if (row === undefined) throw invitationGone(hash);
  requireRestored(row.accountTokenEpoch);
  return row;
}

/** A token with which the person watches a room without taking part in it. NOT_FOUND unless they are a member. */
export async function issueWatchToken(ctx: PersonContext, accountId: string, roomId: string) {
  const { personId } = ctx.person;
  const [[member]] = await ctx.db.run([selectMember({ accountId }, personId)]);
  if (member === undefined) throw notFound("Accounts", "Organization");
  const tenant = ctx.tenantOf(accountId);
  const iat = Math.floor(ctx.now() / 1000);
  const [, [account]] = await tenant.db.run([
    markWatched(tenant, roomId, (iat + WATCH_SECONDS) * 1000),
    selectAccountTokenEpoch(tenant),
  ]);
  const claims = { accountId, roomId, userId: personId, accountEpoch: account?.tokenEpoch ?? 0, iat };
  return { data: { token: await tokensFor(ctx.jwtSecrets()).signWatch(claims) } };
}

/** Whether a member receives notices by mail. NOT_FOUND unless the person is a member of the organization. */
export async function getNotices(ctx: PersonContext, accountId: string) {
  const [[member]] = await ctx.db.run([selectMember({ accountId }, ctx.person.personId)]);
  if (member === undefined) throw notFound("Accounts", "Organization");
  return { data: { wanted: member.notices === 1, by_mail: ctx.mail() !== null } };
}
