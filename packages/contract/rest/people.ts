/** People on the wire, and the bodies of the dashboard's requests. */

import * as z from "zod";
import { isDashboardPage } from "../sign-in.ts";
import { isPlainText, Name, text } from "../text.ts";

export const MEMBER_ROLES = ["owner", "member"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** The people who may sign up without an invitation: none, unless the deployment opens it to all or to some domains. */
export type SignUpPolicy =
  | { readonly type: "invite" | "open" }
  | { readonly type: "domains"; readonly domains: readonly string[] };

/** Lengths in characters, the only rule for passwords. */
const MIN_PASSWORD_LENGTH = 10;
const MAX_PASSWORD_LENGTH = 128;
const MAX_EMAIL_LENGTH = 254;

/** One spelling per address, in lower case: people type theirs in any case. */
const normalizeEmail = (email: string): string => email.trim().toLowerCase();

/** An email address, normalized while it is parsed. */
export const Email = z
  .string()
  .refine(isPlainText, "must be well-formed Unicode without NUL")
  .transform(normalizeEmail)
  .pipe(
    z
      .email("must be an email address")
      .max(MAX_EMAIL_LENGTH, `must have at most ${MAX_EMAIL_LENGTH} characters`),
  );

const NewPassword = text(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH);
/** A current password: one that is too short is merely wrong. */
export const KnownPassword = text(0, MAX_PASSWORD_LENGTH);

/** A code of an authenticator app, or a recovery code; spaces and hyphens in it make no difference. */
export const Code = text(0, 64);

const ChallengeResponse = z.string().max(2048, "must be the response of the widget").optional();

/** The code of the first owner, as people type it. */
const SetupCode = z.string().max(64, "must be the code that npm run deploy prints, such as ABCD-EFGH-JKLM");

/** Body of `POST /dashboard/api/setup`, for a person who signed up before. */
export const Setup = z.strictObject({ code: SetupCode });

/** Body of `POST /dashboard/api/sign-up`. Without an invitation or a code, it creates an organization. */
export const SignUp = z
  .strictObject({
    name: Name,
    email: Email,
    password: NewPassword,
    organization: Name.optional(),
    invitation: z.string().optional(),
    code: SetupCode.optional(),
    challenge: ChallengeResponse,
  })
  .refine(
    ({ organization, invitation, code }) =>
      [organization, invitation, code].filter((each) => each !== undefined).length < 2,
    "organization, invitation and code: send one of them",
  );
export type SignUp = z.infer<typeof SignUp>;

/** Body of `POST /dashboard/api/sign-in`. A person with a second factor needs a code as well. */
export const SignIn = z.strictObject({
  email: Email,
  password: KnownPassword,
  code: Code.optional(),
  challenge: ChallengeResponse,
});
export type SignIn = z.infer<typeof SignIn>;

/** `current` is left out by a person who has no password yet. */
export const PasswordChange = z.strictObject({ current: KnownPassword.optional(), next: NewPassword });
export type PasswordChange = z.infer<typeof PasswordChange>;

export const PasswordLinkRequest = z.strictObject({ email: Email, challenge: ChallengeResponse });
export type PasswordLinkRequest = z.infer<typeof PasswordLinkRequest>;

export const NewPasswordByLink = z.strictObject({ password: NewPassword });
export type NewPasswordByLink = z.infer<typeof NewPasswordByLink>;

const NextPage = z.string().max(512).refine(isDashboardPage, "must be a page of the dashboard");

/**
 * Body of `POST /dashboard/api/oidc/start`: the page to show then, and the token of an invitation or the first owner's
 * code.
 */
export const OidcStart = z.strictObject({
  next: NextPage.optional(),
  invitation: z.string().max(512).optional(),
  code: SetupCode.optional(),
});
export type OidcStart = z.infer<typeof OidcStart>;

/** Body of `POST /dashboard/api/oidc/connect`, by a person who is signed in. */
export const OidcConnection = z.strictObject({ next: NextPage, password: KnownPassword.optional() });
export type OidcConnection = z.infer<typeof OidcConnection>;

const MAX_QUERY_LENGTH = 8192;

/** Body of `POST /dashboard/api/oidc/finish`: the query that the provider sent the browser back with. */
export const OidcReturn = z.strictObject({ query: z.string().max(MAX_QUERY_LENGTH) });
export type OidcReturn = z.infer<typeof OidcReturn>;

export interface OidcOutcome {
  /** The result of the provider's answer; `taken_over`: an account that was made with a password began anew. */
  readonly outcome: "signed_in" | "taken_over" | "connected";
  /** The page of the dashboard to show next. */
  readonly next: string;
}

/** The ways to sign in that pages offer. */
export interface SignInSetup {
  /** The key of Turnstile's widget; null without one. */
  readonly site_key: string | null;
  readonly passwords: boolean;
  /** The company's provider; null without one. */
  readonly oidc: { readonly name: string } | null;
}

/** The ways to sign in of a person. */
export interface OwnCredentials {
  readonly password: boolean;
  readonly oidc: { readonly name: string; readonly connected: boolean } | null;
}

/** Whether the link also signed the person in: not where a second factor is asked for first. */
export interface PasswordByLink {
  readonly signed_in: boolean;
}

export interface PasswordLinkPreview {
  readonly name: string;
  readonly email: string;
}

export const PersonUpdate = z.strictObject({ name: Name });
export type PersonUpdate = z.infer<typeof PersonUpdate>;

export const OrganizationCreation = z.strictObject({ name: Name });

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface OwnOrganization {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
}

/** A sign-in session. `last_used_at` is exact to the hour. */
export interface OwnSignIn {
  readonly id: string;
  /** Such as "Firefox on Linux"; null for a client that is not known. */
  readonly browser: string | null;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly is_current: boolean;
}

export interface OwnSignIns {
  readonly sessions: readonly OwnSignIn[];
}

export interface Me {
  readonly person: Person;
  readonly organizations: readonly OwnOrganization[];
}
