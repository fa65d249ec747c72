/** The commands by which people come to organizations: signing up, creating one, accepting an invitation. */

import { insertAuditEntry } from "../../http/audit/store.ts";
import type { AuditRow } from "../../http/audit/table.ts";
import { type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { commitPlaced } from "../../platform/d1/place.ts";
import { AppError } from "../../platform/errors.ts";
import { shortAddress } from "../../platform/network.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/context.ts";
import { linkHashOf } from "../people/links.ts";
import type { Me, OwnOrganization, Person, SignUp } from "../people/schema.ts";
import { evictPerson } from "../people/sessions.ts";
import { planSignUp, signUpError } from "../people/sign-in-plan.ts";
import { requireMayCreateOrganization, requireMaySignUp } from "../people/sign-up-policy.ts";
import { guardQuota } from "../quotas/guard.ts";
import { QUOTA_EXCEEDED } from "../quotas/statements.ts";
import { getInvitation, invitationGone } from "./queries.ts";
import { acceptInvitation as acceptRow, insertOrganization } from "./store.ts";

/**
 * Creates a person, signs them in, and creates their organization unless they have an invitation: all or nothing.
 * FORBIDDEN when the deployment asks for an invitation. CONFLICT when the address is taken; the service sends no mail
 * that could say so instead.
 */
export async function signUp(ctx: DashboardContext, input: SignUp): Promise<DashboardResult<Me>> {
  const { name, invitation } = input;
  if (invitation === undefined) requireMaySignUp(ctx.signUpPolicy(), input.email);
  const guess =
    invitation === undefined ? await ctx.limits.countSignUp() : await ctx.limits.countInvitation();
  await ctx.challenge().requirePassed(input.challenge);
  const personId = ctx.newId();
  const person = { id: personId, name, email: input.email };
  const place = invitation === undefined ? ctx.choosePlace() : null;
  const { organization, statements } =
    place === null
      ? await planInvitedMembership(ctx, invitation ?? "", person)
      : newOrganization(ctx, person, input.organization ?? name, place.name);
  const planned = await planSignUp(ctx, personId, input);
  const commit = () => ctx.db.run([...planned.statements, ...statements]);
  try {
    if (place === null) await commit();
    else await commitPlaced(place, organization, ctx.now(), commit);
  } catch (error) {
    throw membershipError(signUpError(error));
  }
  if (invitation !== undefined) await guess.forgive();
  return { data: { person: planned.person, organizations: [organization] }, cookies: planned.cookies };
}

/** Creates another organization, with the person as its first owner. FORBIDDEN for those whom sign-up is not open to. */
export async function createOrganization(
  ctx: PersonContext,
  { name }: { readonly name: string },
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  requireMayCreateOrganization(ctx.signUpPolicy(), ctx.person.email);
  const owner = { id: ctx.person.personId, name: ctx.person.name };
  const place = ctx.choosePlace();
  const { organization, statements } = newOrganization(ctx, owner, name, place.name);
  await commitPlaced(place, organization, ctx.now(), () => ctx.db.run(statements));
  return { data: { organization } };
}

/** Makes the person a member by an invitation's token. CONFLICT when they are one already, FORBIDDEN when it is another's. */
export async function acceptInvitation(
  ctx: PersonContext,
  token: string,
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  const { personId, name, email } = ctx.person;
  const guess = await ctx.limits.countInvitation();
  const person = { id: personId, name, email };
  const { organization, statements } = await planInvitedMembership(ctx, token, person);
  try {
    await ctx.db.run(statements);
  } catch (error) {
    throw membershipError(error);
  }
  await guess.forgive();
  evictPerson(personId);
  return { data: { organization } };
}

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
function newOrganization(
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
async function planInvitedMembership(
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
  const statements = acceptRow(await linkHashOf(token), person.id, now);
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
function membershipError(error: unknown): unknown {
  const violated = violatedConstraint(error);
  if (violated === QUOTA_EXCEEDED) return organizationIsFull();
  if (violated === "required:memberships.account_id") return invitationGone();
  if (violated?.startsWith("unique:memberships.") === true) {
    return new AppError("Accounts", "CONFLICT", "You are already a member of this organization");
  }
  return error;
}
