/** People on the wire, and the bodies of the dashboard's requests. */

import * as z from "zod";
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
const KnownPassword = text(0, MAX_PASSWORD_LENGTH);

const ChallengeResponse = z.string().max(2048, "must be the response of the widget").optional();

/** Body of `POST /dashboard/api/sign-up`. Without an invitation, it creates an organization. */
export const SignUp = z
  .strictObject({
    name: Name,
    email: Email,
    password: NewPassword,
    organization: Name.optional(),
    invitation: z.string().optional(),
    challenge: ChallengeResponse,
  })
  .refine(
    ({ organization, invitation }) => organization === undefined || invitation === undefined,
    "organization and invitation: send one of them, not both",
  );
export type SignUp = z.infer<typeof SignUp>;

export const SignIn = z.strictObject({ email: Email, password: KnownPassword, challenge: ChallengeResponse });
export type SignIn = z.infer<typeof SignIn>;

export const PasswordChange = z.strictObject({ current: KnownPassword, next: NewPassword });
export type PasswordChange = z.infer<typeof PasswordChange>;

export const PasswordLinkRequest = z.strictObject({ email: Email, challenge: ChallengeResponse });
export type PasswordLinkRequest = z.infer<typeof PasswordLinkRequest>;

export const NewPasswordByLink = z.strictObject({ password: NewPassword });
export type NewPasswordByLink = z.infer<typeof NewPasswordByLink>;

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

export interface Me {
  readonly person: Person;
  readonly organizations: readonly OwnOrganization[];
}
