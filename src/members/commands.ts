/** What can be done about who belongs to an organization. */
import { type RequestContext, requireOwner } from "../context/context.ts";
import type { OwnOrganization } from "../people/schema.ts";
import { evictPerson } from "../people/verify-sign-in.ts";
import { type Database, type Statement, violatedConstraint } from "../platform/d1.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { getInvitation, invitationGone, invitationHashOf } from "./queries.ts";
import { type Invitation, type InvitationCreation, presentInvitation } from "./schema.ts";
import {
  acceptInvitation,
  deleteExpiredInvitations,
  deleteMembership,
  deleteInvitation as deleteRow,
  insertInvitation,
  insertOrganization,
  selectMembership,
} from "./store.ts";

/** How long an invitation can be accepted. */
export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;
const TOKEN_BYTES = 32;

const createToken = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString("base64url");

/** Makes an invitation, for whoever has its link. The answer is the only place where that is ever shown. */
export async function createInvitation(
  ctx: RequestContext,
  { role }: InvitationCreation,
): Promise<{ invitation: Invitation; url: string }> {
  requireOwner(ctx);
  const token = createToken();
  const now = ctx.now();
  const row = {
    id: ctx.newId(),
    accountId: ctx.accountId,
    role,
    tokenHash: await invitationHashOf(token),
    invitedBy: ctx.actor.type === "person" ? ctx.actor.personId : null,
    createdAt: now,
    expiresAt: now + INVITATION_LIFETIME_MS,
  };
  const data = {
    invitation: presentInvitation(row),
    url: `${ctx.origin}/dashboard/invitations/${token}`,
  };
  await ctx.commit([insertInvitation(row)], data);
  return data;
}

/** Withdraws an invitation. */
export async function deleteInvitation(ctx: RequestContext, id: string): Promise<Record<string, never>> {
  requireOwner(ctx);
  const [deleted] = await ctx.commit([deleteRow(ctx, id, ctx.now())]);
  if (deleted.length === 0) throw notFound("Accounts", "Invitation");
  return {};
}

/** Ends a membership: somebody else's for owners, one's own for everybody. CONFLICT for the last owner's. */
export async function removeMember(ctx: RequestContext, personId: string): Promise<Record<string, never>> {
  if (ctx.actor.type !== "person" || ctx.actor.personId !== personId) requireOwner(ctx);
  const [before, deleted] = await ctx.commit([
    selectMembership(ctx, personId),
    deleteMembership(ctx, personId),
  ]);
  if (before.length === 0) throw notFound("Accounts", "Member");
  if (deleted.length === 0) {
    throw new AppError("Accounts", "CONFLICT", "The last owner stays; invite another owner first");
  }
  evictPerson(personId);
  return {};
}

/** What makes an organization, and the person its first owner. */
export function newOrganization(
  personId: string,
  { id, name, createdAt }: { readonly id: string; readonly name: string; readonly createdAt: number },
): { readonly organization: OwnOrganization; readonly statements: readonly [Statement, Statement] } {
  return {
    organization: { id, name, role: "owner" },
    statements: insertOrganization({ id, name, createdAt }, personId),
  };
}

/**
 * What lets the person in by an invitation's link, and uses that up; NOT_FOUND when it cannot be accepted any more.
 * When the statements fail because somebody was faster, {@link membershipError} says so.
 */
export async function planInvitedMembership(
  db: Database,
  token: string,
  personId: string,
  now: number,
): Promise<ReturnType<typeof newOrganization>> {
  const { accountId, organization, role } = await getInvitation(db, token, now);
  const statements = acceptInvitation(await invitationHashOf(token), personId, now);
  return { organization: { id: accountId, name: organization, role }, statements };
}

/** What a batch that lets somebody in failed of, as the person should hear it; other errors as they are. */
export function membershipError(error: unknown): unknown {
  const violated = violatedConstraint(error);
  if (violated === "required:memberships.account_id") return invitationGone();
  if (violated?.startsWith("unique:memberships.") === true) {
    return new AppError("Accounts", "CONFLICT", "You belong to this organization already");
  }
  return error;
}

/** Forgets invitations that cannot be accepted any more. */
export const purgeExpiredInvitations = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteExpiredInvitations(now)]);
