/** Who makes a request (spec section 5): one scheme after the other, each of which knows one kind of credential. */
import { verifyKey } from "../accounts/verify-key.ts";
import type { Actor } from "../context/context.ts";
import { signInCookieOf } from "../people/sign-in-cookie.ts";
import { type SignInSession, verifySignIn } from "../people/verify-sign-in.ts";
import type { Database } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import { findTokenBearer } from "../users/queries.ts";
import type { Tokens } from "../users/tokens.ts";
import { requireSameOrigin } from "./csrf.ts";

/** What a scheme may use to find out. */
export interface AuthPorts {
  readonly db: Database;
  readonly tokens: Tokens;
  /** What sessions' cookies are signed with. */
  cookieSecret(): string;
  /** The organization in the path. */
  readonly accountId: string;
  now(): number;
  defer(work: Promise<unknown>): void;
}

/** One kind of credential: `undefined` when the request carries none of its kind, null when it carries a bad one. */
export type Scheme = (request: Request, ports: AuthPorts) => Promise<Actor | null | undefined>;

const BEARER = /^Bearer +([^\s]+) *$/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const bearerOf = (request: Request): string | null =>
  BEARER.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null;

/** `accountId:apiKey` in standard or URL-safe Base64, padded or not; null when it is something else. */
export function decodeBearer(bearer: string): { readonly accountId: string; readonly apiKey: string } | null {
  if (!BASE64.test(bearer)) return null;
  try {
    const pair = atob(bearer.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    const colon = pair.indexOf(":");
    return colon === -1 ? null : { accountId: pair.slice(0, colon), apiKey: pair.slice(colon + 1) };
  } catch {
    return null;
  }
}

/** An organization, by `Bearer <Base64 of accountId:apiKey>`. */
const apiKeyScheme: Scheme = async (request, { db, now, defer }) => {
  const bearer = bearerOf(request);
  if (bearer === null || bearer.includes(".")) return undefined;
  const pair = decodeBearer(bearer);
  const key = pair && (await verifyKey(db, pair.accountId, pair.apiKey, now(), defer));
  return key && { type: "key", accountId: key.accountId, keyId: key.keyId };
};

/** A room's user, by `Bearer <JWT>`; Base64 has no dots, a JWT has two. */
const userTokenScheme: Scheme = async (request, { db, tokens, now }) => {
  const bearer = bearerOf(request);
  if (bearer === null || !bearer.includes(".")) return undefined;
  const claims = await tokens.verify(bearer, now());
  const user = claims && (await findTokenBearer(db, claims));
  return (
    user && { type: "user", accountId: user.accountId, userId: user.id, roomId: user.roomId, role: user.role }
  );
};

/** A member of the organization, by the dashboard's cookie; whatever stands in `Authorization` comes before it. */
const sessionScheme: Scheme = async (request, { db, cookieSecret, accountId, now }) => {
  const cookie = request.headers.has("Authorization") ? null : signInCookieOf(request);
  if (cookie === null) return undefined;
  requireSameOrigin(request);
  const membershipOf = ({ organizations }: SignInSession) => organizations.find(({ id }) => id === accountId);
  const suffices = (session: SignInSession) => membershipOf(session) !== undefined;
  const session = await verifySignIn(cookie, { db, secret: cookieSecret(), now: now(), suffices });
  if (session === null) return null;
  const membership = membershipOf(session);
  if (membership === undefined) {
    throw new AppError("Auth", "FORBIDDEN", "The account in the path is none that you belong to");
  }
  return { type: "person", accountId, personId: session.personId, role: membership.role };
};

const SCHEMES: readonly Scheme[] = [apiKeyScheme, userTokenScheme, sessionScheme];

/** The caller; UNAUTHORIZED when no credential is there, or the one that is there is not good. */
export async function authenticate(request: Request, ports: AuthPorts): Promise<Actor> {
  for (const scheme of SCHEMES) {
    const actor = await scheme(request, ports);
    if (actor === null)
      throw new AppError("Auth", "UNAUTHORIZED", "The credential is malformed, unknown or expired");
    if (actor !== undefined) return actor;
  }
  throw new AppError(
    "Auth",
    "UNAUTHORIZED",
    "Send Authorization: Bearer <Base64 of accountId:apiKey>; `npm run account -- create NAME` makes an account and a key",
  );
}
