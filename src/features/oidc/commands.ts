/** Signing in, signing up and connecting by the company's OpenID Connect provider. */

import { AppError } from "@atrium/contract/errors.ts";
import {
  Email,
  type OidcConnection,
  type OidcOutcome,
  type OidcReturn,
  type OidcStart,
} from "@atrium/contract/rest/people.ts";
import { Name } from "@atrium/contract/text.ts";
import type { OidcSettings } from "../../platform/config.ts";
import { lazily } from "../../platform/lazily.ts";
import {
  invitationHashOf,
  isOpenFor,
  membershipError,
  planInvitedMembership,
} from "../members/onboarding.ts";
import { findSession, signUpError } from "../people/commands.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/context.ts";
import { createOidcCookie, expiredOidcCookie } from "../people/cookies.ts";
import { invitationLink } from "../people/links.ts";
import { requireProof } from "../people/password-commands.ts";
import {
  connectProvider,
  findByProvider,
  hasProvider,
  type ProviderAccount,
  planSignUpByProvider,
  signInByProvider,
  takeOverByProvider,
} from "../people/provider-commands.ts";
import { type Flow, openFlow, sealFlow } from "./flow.ts";
import type { Claims } from "./provider.ts";

const loadProvider = lazily(() => import("./provider.ts"));

const HOME = "/dashboard";
const SETUP = "/dashboard/setup";
/** The page that the provider sends browsers back to. */
const CALLBACK = "/dashboard/oidc/callback";

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** The provider of the deployment. NOT_FOUND without one. */
function requireProvider(ctx: DashboardContext): OidcSettings {
  const settings = ctx.oidc();
  if (settings !== null) return settings;
  throw new AppError("Auth", "NOT_FOUND", "This service has no OpenID Connect provider to sign in by");
}

const exchangeOf = (ctx: DashboardContext, settings: OidcSettings) => ({
  settings,
  redirectUri: ctx.origin + CALLBACK,
  now: ctx.now(),
});

/** Begins a sign-in: the browser goes to the URL. FORBIDDEN while the provider cannot be used. */
export const startSignIn = (ctx: DashboardContext, { next = HOME, invitation, code }: OidcStart) =>
  start(ctx, { next, invitation: invitation ?? null, code: code ?? null, personId: null });

/** Begins to connect an account at the provider. Errors as of `requireProof` and {@link startSignIn}. */
export async function startConnection(ctx: PersonContext, { next, password }: OidcConnection) {
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "password: this is not your password");
  await requireProof(ctx, password, refusal);
  return start(ctx, { next, invitation: null, code: null, personId: ctx.person.personId });
}

async function start(
  ctx: DashboardContext,
  purpose: Pick<Flow, "next" | "invitation" | "code" | "personId">,
) {
  const settings = requireProvider(ctx);
  const { authorize } = await loadProvider();
  const { url, secrets } = await authorize(exchangeOf(ctx, settings));
  const sealed = await sealFlow({ ...secrets, ...purpose }, ctx.cookieSecret, ctx.now());
  return { data: { url }, cookies: [createOidcCookie(sealed)] };
}

/**
 * Ends what was begun, with the query that the provider sent the browser back with: signs the person in, creates them,
 * or connects their account. FORBIDDEN when the provider's answer is a refusal, not valid, late or used, and when the
 * person may not sign up.
 */
export async function finish(
  ctx: DashboardContext,
  { query }: OidcReturn,
): Promise<DashboardResult<OidcOutcome>> {
  const settings = requireProvider(ctx);
  const { exchange, flowGone } = await loadProvider();
  const flow = await openFlow(ctx.oidcCookie, ctx.cookieSecret, ctx.now());
  if (flow === null) throw flowGone();
  const claims = await exchange(exchangeOf(ctx, settings), query, flow);
  const account = { issuer: settings.issuer, subject: claims.subject };
  const { data, cookies = [] }: DashboardResult<OidcOutcome> =
    flow.personId === null
      ? await enter(ctx, settings, claims, account, flow)
      : await connect(ctx, account, flow.personId, flow.next);
  return { data, cookies: [...cookies, expiredOidcCookie()] };
}

async function connect(ctx: DashboardContext, account: ProviderAccount, personId: string, next: string) {
  const session = await findSession(ctx);
  if (session?.personId !== personId)
    throw forbidden("You were signed out meanwhile; sign in, and connect the account again");
  await connectProvider(ctx, { id: personId, email: session.email }, account);
  return { data: { outcome: "connected", next } as const };
}

/** Signs in the person of the account or of its address, or signs them up. */
async function enter(
  ctx: DashboardContext,
  settings: OidcSettings,
  claims: Claims,
  account: ProviderAccount,
  flow: Flow,
): Promise<DashboardResult<OidcOutcome>> {
  const email = Email.safeParse(claims.email).data ?? null;
  const verified = claims.isVerified ? email : null;
  const { known, namesake } = await findByProvider(ctx, account, verified);
  const nextOfKnown = pageFor(flow);
  if (known !== undefined)
    return {
      data: { outcome: "signed_in", next: nextOfKnown },
      cookies: await signInByProvider(ctx, known, account),
    };
  if (verified === null) throw unverified(settings, email);
  const isOfProvider = settings.domains.includes(verified.slice(verified.lastIndexOf("@") + 1));
  if (namesake !== undefined) {
    if (!isOfProvider) throw foreignAddress(settings, verified);
    if (await hasProvider(ctx, namesake.id, account.issuer)) throw ofEarlierAccount(settings, verified);
    return {
      data: { outcome: "taken_over", next: nextOfKnown },
      cookies: await takeOverByProvider(ctx, namesake, account),
    };
  }
  const invitation = await invitationHashOf(flow);
  if (invitation === null && !isOfProvider && !isOpenFor(ctx.signUpPolicy(), verified))
    throw needsInvitation(verified);
  const name = Name.safeParse(claims.name).data ?? verified;
  const cookies = await signUp(ctx, { id: ctx.newId(), name, email: verified }, account, invitation);
  return { data: { outcome: "signed_in", next: invitation === null ? flow.next : HOME }, cookies };
}

/** Someone who has an account decides on the page of the invitation or the code, as after signing in by a password. */
function pageFor({ next, invitation, code }: Flow): string {
  if (code !== null) return SETUP;
  return invitation === null ? next : invitationLink.path(encodeURIComponent(invitation));
}

/** Creates a person, who becomes a member of the organization of the invitation's hash, or of none: all or nothing. */
async function signUp(
  ctx: DashboardContext,
  person: { readonly id: string; readonly name: string; readonly email: string },
  account: ProviderAccount,
  invitation: string | null,
) {
  const guess = invitation === null ? await ctx.limits.countSignUp() : await ctx.limits.countInvitation();
  const membership = invitation === null ? null : await planInvitedMembership(ctx, invitation, person);
  const { statements, cookies } = await planSignUpByProvider(ctx, person, account);
  await ctx.db.run([...statements, ...(membership?.statements ?? [])]).catch((error: unknown) => {
    throw membershipError(signUpError(error), invitation ?? "");
  });
  if (invitation !== null) await guess.forgive();
  return cookies;
}

const unverified = ({ name }: OidcSettings, email: string | null) =>
  forbidden(
    email === null
      ? `${name} did not send your email address; its administrator can allow that for this service`
      : `${name} has not verified ${email}; verify the address there, and try again`,
  );

const needsInvitation = (email: string) =>
  forbidden(
    `${email} has no account here yet; ask an owner of your organization for an invitation, and open its link`,
  );

const ofEarlierAccount = ({ name }: OidcSettings, email: string) =>
  forbidden(
    `${email} belongs to another account at ${name} here; sign in another way, and connect this one in Settings, Sign-in, or ask the operator of this service to delete the person`,
  );

const foreignAddress = ({ name }: OidcSettings, email: string) =>
  forbidden(
    `An account with ${email} exists already; sign in to it, and connect ${name} in Settings, Sign-in`,
  );
