/** The ways to an organization: signing up, creating one, accepting an invitation. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Me, Person, SignUp, SignUpPolicy } from "@atrium/contract/rest/people.ts";
import { insertAuditEntry } from "../../http/audit/store.ts";
import type { AuditRow } from "../../http/audit/table.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { commitPlaced } from "../../platform/d1/place.ts";
import { shortAddress } from "../../platform/network.ts";
import { planSignUp, signUpError } from "../people/commands.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/context.ts";
import { linkHashOf } from "../people/links.ts";
import { evictPerson } from "../people/sessions.ts";
import { guardQuota } from "../quotas/guard.ts";
import { QUOTA_EXCEEDED } from "../quotas/statements.ts";
import { getInvitation, invitationGone } from "./queries.ts";
import { acceptInvitation as acceptRow, insertOrganization } from "./store.ts";

const forbidden = (module: "Accounts" | "Auth", why: string) => new AppError(module, "FORBIDDEN", why);

/** Whether this address needs no invitation. */
const isOpenFor = (policy: SignUpPolicy, email: string): boolean =>
  policy.type === "domains"
    ? policy.domains.includes(email.slice(email.lastIndexOf("@") + 1))
    : policy.type === "open";

/** FORBIDDEN for a person who has no invitation and needs one. */
function requireMaySignUp(policy: SignUpPolicy, email: string): void {
  if (isOpenFor(policy, email)) return;
  throw forbidden(
    "Auth",
    policy.type === "domains"
      ? `email: without an invitation, only addresses of ${policy.domains.join(", ")} can sign up; use one, or ask for an invitation`
      : "Sign-up is by invitation only; ask a member of your organization for an invitation",
  );
}

/**
 * Creates a person, signs them in, and creates their organization unless they have an invitation: all or nothing.
 * FORBIDDEN when the deployment asks for an invitation. CONFLICT when the address is taken; the service sends no mail
 * that could say so instead.
 */
export async function signUp(ctx: DashboardContext, input: SignUp): Promise<DashboardResult<Me>> {
  const { name, email, invitation } = input;
  if (invitation === undefined) requireMaySignUp(ctx.signUpPolicy(), email);
  const guess =
    invitation === undefined ? await ctx.limits.countSignUp() : await ctx.limits.countInvitation();
  await ctx.challenge().requirePassed(input.challenge);
  const person = { id: ctx.newId(), name, email };
  const place = invitation === undefined ? ctx.choosePlace() : null;
  const { organization, statements } =
    place === null
      ? await planInvitedMembership(ctx, invitation ?? "", person)
      : newOrganization(ctx, person, input.organization ?? name, place.name);
  const planned = await planSignUp(ctx, person, await guess.hash(input.password));
  const commit = () => ctx.db.run([...planned.statements, ...statements]);
  try {
    if (place === null) await commit();
    else await commitPlaced(place, organization, ctx.now(), commit);
  } catch (error) {
    throw membershipError(signUpError(error));
  }
  if (invitation !== undefined) await guess.forgive();
  return { data: { person, organizations: [organization] }, cookies: planned.cookies };
}

/** Creates another organization, with the person as its first owner. FORBIDDEN where signing up needs an invitation. */
export async function createOrganization(ctx: PersonContext, name: string) {
  if (!isOpenFor(ctx.signUpPolicy(), ctx.person.email))
    throw forbidden(
      "Auth",
      "Only the operator of this service can create organizations for you; ask them for one",
    );
  const owner = { id: ctx.person.personId, name: ctx.person.name };
  const place = ctx.choosePlace();
  const { organization, statements } = newOrganization(ctx, owner, name, place.name);
  await commitPlaced(place, organization, ctx.now(), () => ctx.db.run(statements));
  return { data: { organization } };
}

/** Makes the person a member by an invitation's token. CONFLICT for a member, FORBIDDEN when it is another person's. */
export async function acceptInvitation(ctx: PersonContext, token: string) {
  const { personId, name, email } = ctx.person;
  const guess = await ctx.limits.countInvitation();
  const { organization, statements } = await planInvitedMembership(ctx, token, { id: personId, name, email });
  try {
    await ctx.db.run(statements);
  } catch (error) {
    throw membershipError(error);
  }
  await guess.forgive();
  evictPerson(personId);
  return { data: { organization } };
}

/** The audit log's entry for an action of a person on a page of the dashboard. */
export const insertOwnEntry = (
  ctx: DashboardContext,
  accountId: string,
  { id: actorId, name: actorName }: Pick<Person, "id" | "name">,
  entry: Pick<AuditRow, "operation" | "resource" | "resourceId">,
  changes: Readonly<Record<string, unknown>>,
  id: string = ctx.newId(),
) => {
  const { requestId, address } = ctx;
  const actor = { actorType: "person", actorId, actorName } as const;
  const request = { at: ctx.now(), address: shortAddress(address), requestId };
  return insertAuditEntry(
    accountId,
    { ...entry, ...actor, ...request, id, changes: JSON.stringify(changes) },
    true,
  );
};

function newOrganization(
  ctx: DashboardContext,
  owner: Pick<Person, "id" | "name">,
  name: string,
  database: string,
) {
  const id = ctx.newId();
  const entry = { operation: "createOrganization", resource: "organization", resourceId: null } as const;
  const statements = [
    ...insertOrganization({ id, name, createdAt: ctx.now(), database }, owner.id),
    insertOwnEntry(ctx, id, owner, entry, { name }),
  ] as const;
  return { organization: { id, name, role: "owner" as const }, statements };
}

/** Plans a membership that uses an invitation up. NOT_FOUND for an invalid one, FORBIDDEN for another address. */
async function planInvitedMembership(ctx: DashboardContext, token: string, person: Person) {
  const now = ctx.now();
  const { accountId, organization: name, role, email } = await getInvitation(ctx.db, token, now);
  if (email !== null && email !== person.email)
    throw forbidden(
      "Accounts",
      "email: this invitation is for another address; use the one that you were invited with, or ask for a new invitation",
    );
  const entry = { operation: "acceptInvitation", resource: "member", resourceId: person.id } as const;
  const statements = [
    ...acceptRow(await linkHashOf(token), person.id, now),
    guardQuota({ ...ctx, accountId }, "members").statement,
    insertOwnEntry(ctx, accountId, person, entry, { role }),
  ] as const;
  return { organization: { id: accountId, name, role }, statements };
}

/** Translates the error of a batch that adds a member for the person; returns other errors unchanged. */
function membershipError(error: unknown): unknown {
  const violated = violatedConstraint(error);
  if (violated === QUOTA_EXCEEDED)
    // The quota's use is hidden from people who are no members.
    return forbidden(
      "Accounts",
      "The organization's quota of members is used up; ask who invited you for a place, and then open the link again",
    );
  if (violated === "required:memberships.account_id") return invitationGone();
  if (violated?.startsWith("unique:memberships.") === true)
    return new AppError("Accounts", "CONFLICT", "You are already a member of this organization");
  return error;
}
