/** Plans how a person becomes a member: of a new organization, or by an invitation. */
import { insertAuditEntry } from "../../http/audit/store.ts";
import type { AuditRow } from "../../http/audit/table.ts";
import type { Statement } from "../../platform/d1/d1.ts";
import { violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { AppError } from "../../platform/errors.ts";
import { shortAddress } from "../../platform/network.ts";
import { linkHashOf } from "../people/link-token.ts";
import type { DashboardContext } from "../people/person-context.ts";
import type { OwnOrganization, Person } from "../people/schema.ts";
import { guardQuota } from "../quotas/guard.ts";
import { QUOTA_EXCEEDED } from "../quotas/shared-store.ts";
import { acceptInvitation } from "./invitation-store.ts";
import { getInvitation, invitationGone } from "./queries.ts";
import { insertOrganization } from "./store.ts";

/** What becomes of a person's request for an organization. */
interface PlannedMembership {
  readonly organization: OwnOrganization;
  readonly statements: readonly [Statement, ...Statement[]];
}

/** The entry of the audit log for what a person does on a page of the dashboard. */
export const insertOwnEntry = (
  ctx: DashboardContext,
  accountId: string,
  { id: actorId, name: actorName }: Pick<Person, "id" | "name">,
  entry: Pick<AuditRow, "operation" | "resource" | "resourceId" | "changes">,
  id: string = ctx.newId(),
): Statement =>
  insertAuditEntry(
    accountId,
    {
      ...{ ...entry, id, at: ctx.now(), actorType: "person", actorId, actorName },
      ...{ address: shortAddress(ctx.address), requestId: ctx.requestId },
    },
    true,
  );

/** Plans a new organization in a database, with the person as its first owner. */
export function newOrganization(
  ctx: DashboardContext,
  owner: Pick<Person, "id" | "name">,
  name: string,
  database: string,
): PlannedMembership {
  const id = ctx.newId();
  const entry = insertOwnEntry(ctx, id, owner, {
    ...{ operation: "createOrganization", resource: "organization", resourceId: null },
    changes: JSON.stringify({ name }),
  });
  const statements = insertOrganization({ id, name, createdAt: ctx.now(), database }, owner.id);
  return { organization: { id, name, role: "owner" }, statements: [...statements, entry] };
}

/**
 * Plans a membership by an invitation, which it uses up. NOT_FOUND when the invitation is not valid any more, FORBIDDEN
 * when it is for another address. Pass the error of a batch with these statements through {@link membershipError}.
 */
export async function planInvitedMembership(
  ctx: DashboardContext,
  token: string,
  person: Person,
): Promise<PlannedMembership> {
  const now = ctx.now();
  const { accountId, organization, role, email } = await getInvitation(ctx.db, token, now);
  if (email !== null && email !== person.email) throw forAnother();
  const entry = insertOwnEntry(ctx, accountId, person, {
    ...{ operation: "acceptInvitation", resource: "member", resourceId: person.id },
    changes: JSON.stringify({ role }),
  });
  const statements = acceptInvitation(await linkHashOf(token), person.id, now);
  const quota = guardQuota({ ...ctx, accountId }, "members");
  return {
    organization: { id: accountId, name: organization, role },
    statements: [...statements, quota.statement, entry],
  };
}

const forAnother = () =>
  new AppError(
    "Accounts",
    "FORBIDDEN",
    "email: this invitation is for another address; use the one that you were invited with, or ask for a new invitation",
  );

/** What the organization uses is not shown to someone who is no member. */
const organizationIsFull = () =>
  new AppError(
    "Accounts",
    "FORBIDDEN",
    "The organization's quota of members is used up; ask who invited you for a place, and then open the link again",
  );

/** Translates the error of a batch that adds a member for the person; returns other errors unchanged. */
export function membershipError(error: unknown): unknown {
  const violated = violatedConstraint(error);
  if (violated === QUOTA_EXCEEDED) return organizationIsFull();
  if (violated === "required:memberships.account_id") return invitationGone();
  if (violated?.startsWith("unique:memberships.") === true) {
    return new AppError("Accounts", "CONFLICT", "You are already a member of this organization");
  }
  return error;
}
