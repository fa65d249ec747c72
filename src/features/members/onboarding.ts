/** The ways to an organization: signing up, creating one, accepting an invitation. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Me, Person, SignUp, SignUpPolicy } from "@atrium/contract/rest/people.ts";
import { insertAuditEntry } from "../../http/audit/store.ts";
import type { AuditRow } from "../../http/audit/table.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { commitPlaced } from "../../platform/d1/place.ts";
import { shortAddress } from "../../platform/network.ts";
import { passwordOfNew, planSignUp, requirePasswords, signUpError } from "../people/commands.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/context.ts";
import { linkHashOf, setupHashOf } from "../people/links.ts";
import { evictPerson } from "../people/sessions.ts";
import { guardQuota } from "../quotas/guard.ts";
import { QUOTA_EXCEEDED } from "../quotas/statements.ts";
import { getInvitation, invitationGone } from "./queries.ts";
import { acceptInvitation as acceptRow, insertOrganization } from "./store.ts";

const forbidden = (module: "Accounts" | "Auth", why: string) => new AppError(module, "FORBIDDEN", why);

/** Whether this address needs no invitation. */
export const isOpenFor = (policy: SignUpPolicy, email: string): boolean =>
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
 * Creates a person, signs them in, and creates their organization unless they have an invitation or the first owner's
 * code: all or nothing. FORBIDDEN when the deployment asks for an invitation. CONFLICT when the address is taken; the
 * service sends no mail that could say so instead.
 */
export async function signUp(ctx: DashboardContext, input: SignUp): Promise<DashboardResult<Me>> {
  const { name, email } = input;
  requirePasswords(ctx);
  const invitation = await invitationHashOf(input);
  if (invitation === null) requireMaySignUp(ctx.signUpPolicy(), email);
  const guess = invitation === null ? await ctx.limits.countSignUp() : await ctx.limits.countInvitation();
  await ctx.challenge().requirePassed(input.challenge);
  const person = { id: ctx.newId(), name, email };
  const place = invitation === null ? ctx.choosePlace() : null;
  const { organization, statements } =
    place === null
      ? await planInvitedMembership(ctx, invitation ?? "", person)
      : newOrganization(ctx, person, input.organization ?? name, place.name);
  const hash = await guess.hash(input.password);
  const planned = await planSignUp(ctx, person, passwordOfNew(ctx, person, hash));
  const commit = () => ctx.db.run([...planned.statements, ...statements]);
  try {
    if (place === null) await commit();
    else await commitPlaced(place, organization, ctx.now(), commit);
  } catch (error) {
    throw membershipError(signUpError(error), invitation ?? "");
  }
  if (invitation !== null) await guess.forgive();
  return { data: { person, organizations: [organization] }, cookies: planned.cookies };
}

interface Invited {
  /** The token of an invitation. */
  readonly invitation?: string | null | undefined;
  /** The first owner's code. */
  readonly code?: string | null | undefined;
}

/** The hash of what someone signs up with; null for neither. */
export async function invitationHashOf({ invitation, code }: Invited): Promise<string | null> {
  if (code != null) return setupHashOf(code);
  return invitation == null ? null : linkHashOf(invitation);
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

/** Makes the person a member by an invitation's hash. CONFLICT for a member, FORBIDDEN when it is another person's. */
export async function acceptInvitation(ctx: PersonContext, hash: string) {
  const { personId, name, email } = ctx.person;
  const guess = await ctx.limits.countInvitation();
  const { organization, statements } = await planInvitedMembership(ctx, hash, { id: personId, name, email });
  try {
    await ctx.db.run(statements);
  } catch (error) {
    throw membershipError(error, hash);
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

/** Plans a membership that uses an invitation up. Throws `invitationGone`, and FORBIDDEN for another address. */
export async function planInvitedMembership(ctx: DashboardContext, hash: string, person: Person) {
  const now = ctx.now();
  const { accountId, organization: name, role, email } = await getInvitation(ctx.db, hash, now);
  if (email !== null && email !== person.email)
    throw forbidden(
      "Accounts",
      "email: this invitation is for another address; use the one that you were invited with, or ask for a new invitation",
    );
  const entry = { operation: "acceptInvitation", resource: "member", resourceId: person.id } as const;
  const statements = [
    ...acceptRow(hash, person.id, now),
    guardQuota({ ...ctx, accountId }, "members").statement,
    insertOwnEntry(ctx, accountId, person, entry, { role }),
  ] as const;
  return { organization: { id: accountId, name, role }, statements };
}

/** Translates the error of a batch that adds a member by an invitation's hash; returns other errors unchanged. */
export function membershipError(error: unknown, hash: string): unknown {
  const violated = violatedConstraint(error);
  if (violated === QUOTA_EXCEEDED)
    // The quota's use is hidden from people who are no members.
    return forbidden(
      "Accounts",
      "The organization's quota of members is used up; ask who invited you for a place, and then open the link again",
    );
  if (violated === "required:memberships.account_id") return invitationGone(hash);
  if (violated?.startsWith("unique:memberships.") === true)
    return new AppError("Accounts", "CONFLICT", "You are already a member of this organization");
  return error;
}
