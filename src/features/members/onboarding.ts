/** The commands by which people come to organizations: signing up, creating one, accepting an invitation. */

import { commitPlaced } from "../../platform/placement/place.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/person-context.ts";
import type { Me, OwnOrganization, SignUp } from "../people/schema.ts";
import { planSignUp, signUpError } from "../people/sign-up.ts";
import { requireMayCreateOrganization, requireMaySignUp } from "../people/sign-up-policy.ts";
import { evictPerson } from "../people/verify-cookie.ts";
import { membershipError, newOrganization, planInvitedMembership } from "./membership-plan.ts";

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
