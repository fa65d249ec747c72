/** Who may sign up, and create organizations, without an invitation. */
import { AppError } from "../../platform/errors.ts";

/** Anyone; only invited people; or also people with an email address of one of these domains. */
export type SignUpPolicy =
  | { readonly type: "open" | "invite" }
  | { readonly type: "domains"; readonly domains: readonly string[] };

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

const isOfDomain = (email: string, domains: readonly string[]): boolean =>
  domains.includes(email.slice(email.lastIndexOf("@") + 1));

const isOpenFor = (policy: SignUpPolicy, email: string): boolean =>
  policy.type === "domains" ? isOfDomain(email, policy.domains) : policy.type === "open";

/** FORBIDDEN for a person who has no invitation and needs one. */
export function requireMaySignUp(policy: SignUpPolicy, email: string): void {
  if (isOpenFor(policy, email)) return;
  throw forbidden(
    policy.type === "domains"
      ? `email: without an invitation, only addresses of ${policy.domains.join(", ")} can sign up; use one, or ask for an invitation`
      : "Sign-up is by invitation only; ask a member of your organization for an invitation",
  );
}

/** FORBIDDEN for a person who may not create organizations, because an invitation was needed to sign up. */
export function requireMayCreateOrganization(policy: SignUpPolicy, email: string): void {
  if (isOpenFor(policy, email)) return;
  throw forbidden("Only the operator of this service can create organizations for you; ask them for one");
}
