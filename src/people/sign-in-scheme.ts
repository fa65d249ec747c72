/** Authenticates members of an organization by the dashboard's session cookie. */
import type { Actor } from "../context/actor.ts";
import type { AuthPorts } from "../http/authenticate.ts";
import { requireSameOrigin } from "../http/csrf.ts";
import { AppError } from "../platform/errors.ts";
import { signInCookieOf } from "./sign-in-cookie.ts";
import { type SignInSession, verifySignIn } from "./verify-sign-in.ts";

/** A member of the organization in the path. The cookie counts only in a request without an `Authorization` header. */
export async function authenticateMember(
  request: Request,
  { db, accountId, now }: AuthPorts,
  cookieSecret: string,
): Promise<Actor | null | undefined> {
  const cookie = request.headers.has("Authorization") ? null : signInCookieOf(request);
  if (cookie === null) return undefined;
  requireSameOrigin(request);
  const membershipOf = ({ organizations }: SignInSession) => organizations.find(({ id }) => id === accountId);
  const suffices = (session: SignInSession) => membershipOf(session) !== undefined;
  const session = await verifySignIn(cookie, { db, secret: cookieSecret, now: now(), suffices });
  if (session === null) return null;
  const membership = membershipOf(session);
  if (membership === undefined) {
    throw new AppError("Auth", "FORBIDDEN", "You are not a member of the account in the path");
  }
  return { type: "person", accountId, personId: session.personId, role: membership.role };
}
