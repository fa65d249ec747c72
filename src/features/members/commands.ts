/** The commands on members. */
import { type RequestContext, requireOwner } from "../../platform/context/context.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { evictPerson } from "../people/verify-cookie.ts";
import { deleteInvitationsOf } from "./invitation-store.ts";
import { type Member, type MemberUpdate, presentMember } from "./schema.ts";
import { deleteMembership, selectMember, selectMembership, updateRole } from "./store.ts";

/** Removes a member, whose open invitations end as well. Owners remove anyone, members only themselves. CONFLICT for the last owner. */
export async function removeMember(ctx: RequestContext, personId: string): Promise<Record<string, never>> {
  if (ctx.actor.type !== "person" || ctx.actor.personId !== personId) requireOwner(ctx);
  const [before, deleted] = await ctx.commit([
    selectMembership(ctx, personId),
    deleteMembership(ctx, personId),
    deleteInvitationsOf(ctx, personId),
  ]);
  if (before.length === 0) throw notFound("Accounts", "Member");
  if (deleted.length === 0) {
    throw new AppError(
      "Accounts",
      "CONFLICT",
      "The last owner cannot be removed; invite another owner first",
    );
  }
  evictPerson(personId);
  return {};
}

/**
 * Changes a member's role, within 10 seconds everywhere. The open invitations of an owner who becomes a member end.
 * CONFLICT for the last owner.
 */
export async function updateMember(
  ctx: RequestContext,
  personId: string,
  { role }: MemberUpdate,
): Promise<{ member: Member }> {
  requireOwner(ctx);
  const [, , [member]] = await ctx.commit([
    updateRole(ctx, personId, role),
    deleteInvitationsOf(ctx, personId),
    selectMember(ctx, personId),
  ]);
  if (member === undefined) throw notFound("Accounts", "Member");
  if (member.role !== role) {
    throw new AppError(
      "Accounts",
      "CONFLICT",
      "role: the last owner cannot become a member; make another member an owner first",
    );
  }
  evictPerson(personId);
  return { member: presentMember(member) };
}
