/** People's accounts at the company's OpenID Connect provider: signing in by them, connecting and disconnecting. */

import { AppError } from "@atrium/contract/errors.ts";
import type { OwnCredentials, Person } from "@atrium/contract/rest/people.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { planSignIn, planSignUp } from "./commands.ts";
import type { DashboardContext, PersonContext } from "./context.ts";
import { evictPerson } from "./sessions.ts";
import {
  deleteCredentialsOf,
  deleteDispensableProvider,
  deleteProvider,
  insertProvider,
  type ProviderAccount,
  providerIs,
  selectCredentials,
  selectPersonByEmail,
  selectPersonByProvider,
} from "./store.ts";
import { PASSWORD_PROVIDER } from "./table.ts";

export type { ProviderAccount } from "./store.ts";

type Owner = Pick<Person, "id" | "email">;

/** The person who has an account at the provider, and the person who has an address; undefined without one. */
export async function findByProvider(ctx: DashboardContext, account: ProviderAccount, email: string | null) {
  const [[known], [namesake]] = await ctx.db.run([
    selectPersonByProvider(account),
    selectPersonByEmail(email ?? ""),
  ]);
  const ownerOf = (row: typeof known): Owner | undefined => row && { id: row.personId, email: row.email };
  return { known: ownerOf(known), namesake: ownerOf(namesake) };
}

/** Whether the person is connected with an account of the issuer. */
export async function hasProvider(ctx: DashboardContext, personId: string, issuer: string): Promise<boolean> {
  const [rows] = await ctx.db.run([selectCredentials(personId)]);
  return rows.some(({ providerId }) => providerId === issuer);
}

/** Begins a session by an account at the provider. CONFLICT when it was disconnected meanwhile. */
export async function signInByProvider(ctx: DashboardContext, person: Owner, account: ProviderAccount) {
  const { cookies, statements } = await planSignIn(ctx, person, providerIs(person.id, account));
  const [begun] = await ctx.db.run(statements);
  if (begun.length === 0) throw changedMeanwhile();
  return cookies;
}

/**
 * Hands a person's account to the owner of its address, for whom the provider vouches: a stranger may have signed up
 * with the address. Its other ways to sign in, its sessions and its links for a new password end. CONFLICT when it was
 * deleted or connected meanwhile.
 */
export async function takeOverByProvider(ctx: DashboardContext, person: Owner, account: ProviderAccount) {
  const { cookies, statements } = await planSignIn(ctx, person, providerIs(person.id, account));
  const [, , , , , , , , begun] = await ctx.db
    .run([
      ...deleteCredentialsOf(person.id),
      insertProvider(ctx.newId(), person, account, ctx.now()),
      ...statements,
    ])
    .catch(refuseProvider);
  evictPerson(person.id);
  if (begun.length === 0) throw changedMeanwhile();
  return cookies;
}

/** Plans a person who signs in by an account at the provider. */
export const planSignUpByProvider = (ctx: DashboardContext, person: Person, account: ProviderAccount) =>
  planSignUp(ctx, person, {
    insert: insertProvider(ctx.newId(), person, account, ctx.now()),
    proof: providerIs(person.id, account),
  });

/** Connects an account at the provider in place of the person's earlier one. CONFLICT for another person's. */
export async function connectProvider(ctx: DashboardContext, person: Owner, account: ProviderAccount) {
  await ctx.db
    .run([deleteProvider(person.id, account.issuer), insertProvider(ctx.newId(), person, account, ctx.now())])
    .catch(refuseProvider);
}

/** Disconnects the person's account at the provider. CONFLICT when they have no other way to sign in. */
export async function disconnectProvider(ctx: PersonContext) {
  const { issuer = "", name } = ctx.oidc() ?? {};
  if (!ctx.hasPasswords)
    throw conflict(`People sign in to this service with ${name} alone, so it stays connected`);
  const { personId } = ctx.person;
  const [[deleted], left] = await ctx.db.run([
    deleteDispensableProvider(personId, issuer),
    selectCredentials(personId),
  ]);
  if (deleted === undefined && left.some(({ providerId }) => providerId === issuer))
    throw conflict("This is your last way to sign in; set a password first");
  return { data: {} };
}

/** What the signed-in person signs in by. */
export async function getCredentials(ctx: PersonContext): Promise<{ data: OwnCredentials }> {
  const oidc = ctx.oidc();
  const [rows] = await ctx.db.run([selectCredentials(ctx.person.personId)]);
  const has = (provider: string) => rows.some(({ providerId }) => providerId === provider);
  return {
    data: {
      password: ctx.hasPasswords && has(PASSWORD_PROVIDER),
      oidc: oidc && { name: oidc.name, connected: has(oidc.issuer) },
    },
  };
}

const conflict = (why: string) => new AppError("Auth", "CONFLICT", why);

const changedMeanwhile = () => conflict("Your account was changed meanwhile; sign in again");

const ofAnother = () =>
  conflict("Another person's account is connected with this one of the provider; sign in with it instead");

/** CONFLICT for the error of a batch that connects another person's account; throws other errors unchanged. */
function refuseProvider(error: unknown): never {
  throw violatedConstraint(error)?.startsWith("unique:credentials.") === true ? ofAnother() : error;
}
