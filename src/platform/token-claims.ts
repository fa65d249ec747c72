/** The claims of a user's token, its terms, and its validity. */

import { AppError } from "@atrium/contract/errors.ts";
import { ALL_RIGHTS, type Rights, rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import { Role, type UserRecord } from "@atrium/contract/resources/user.ts";
import { IDENTITY_TOKEN_SECONDS } from "@atrium/contract/token-seconds.ts";
import { decodeJwt } from "jose";
import * as z from "zod";
import { Narrowing } from "./narrowing.ts";

const CLOCK_TOLERANCE_SECONDS = 60;

export const TokenClaims = z.object({
  accountId: z.string(),
  userId: z.string(),
  roomId: z.string(),
  role: Role,
  /** True when `role` was asked for and stays. Otherwise it is the user's own at that time, and changes with it. */
  narrowed: z.boolean().default(false),
  /** Epoch seconds. */
  iat: z.int(),
  /** Epoch seconds. */
  exp: z.int(),
  /** The token epochs in which it was signed; absent while they are 0. */
  userEpoch: z.int().default(0),
  accountEpoch: z.int().default(0),
  /** Token epoch of the user's identity. */
  identityEpoch: z.int().default(0),
});
export type TokenClaims = z.infer<typeof TokenClaims>;

/** The columns of a user's row that its tokens are derived from. */
export interface TokenSubject extends Pick<UserRecord, "id" | "accountId" | "roomId" | "role" | "createdAt"> {
  readonly tokenEpoch: number;
  readonly accountTokenEpoch: number;
  /** Null for a user of its own. */
  readonly identityId: string | null;
  /** Null without an identity, and when it was deleted. */
  readonly identityEpoch: number | null;
}

export interface TokenTerms {
  readonly issuedAt: number;
  readonly ttlSeconds: number;
  readonly role: Role;
  /** The token keeps this role when the user's own rises. */
  readonly narrowed?: boolean;
}

/** The token epochs of a user, its organization and its identity: a token of earlier ones has ended. */
export interface TokenEpochs {
  readonly user: number;
  readonly account: number;
  /** Absent while it is 0. */
  readonly identity?: number;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** The terms of a token of the user that is issued at `now` (epoch ms), never before the user by a slow clock. */
export const newTerms = (
  { createdAt, role: own }: Pick<TokenSubject, "createdAt" | "role">,
  now: number,
  ttlSeconds: number,
  role?: Role,
): TokenTerms => ({
  issuedAt: seconds(Math.max(now, createdAt)),
  ttlSeconds,
  role: role ?? own,
  narrowed: role === "viewer",
});

export const issuedAt = ({ createdAt, tokenEpoch, accountTokenEpoch, identityEpoch }: TokenSubject): number =>
  seconds(Math.max(createdAt, tokenEpoch, accountTokenEpoch, identityEpoch ?? 0));

/** The claims of a token that this service has signed itself. */
export const claimsOf = (token: string): TokenClaims => TokenClaims.parse(decodeJwt(token));

export const isPlausible = (
  { iat, exp }: Pick<TokenClaims, "iat" | "exp">,
  { min, max }: { readonly min: number; readonly max: number },
  now: number,
): boolean => exp - iat >= min && exp - iat <= max && iat <= now / 1000 + CLOCK_TOLERANCE_SECONDS;

/** The most that a token allows, whatever its user may do. */
export const ceilingOf = ({ narrowed, role }: TokenClaims): Rights =>
  narrowed ? rightsOfRole(role) : ALL_RIGHTS;

/**
 * Claims of an identity token, which opens each room as far as the identity has access. It names no groups and
 * gives no rights.
 */
export const IdentityClaims = z.object({
  accountId: z.string(),
  identityId: z.string(),
  /** Epoch seconds. */
  iat: z.int(),
  exp: z.int(),
  accountEpoch: z.int().default(0),
  identityEpoch: z.int().default(0),
  ...Narrowing.shape,
});
export type IdentityClaims = z.infer<typeof IdentityClaims>;

/** True for a token that lives longer than an identity's can: no address may have it. */
export function isLasting(token: string): boolean {
  try {
    const { iat, exp } = decodeJwt(token);
    return !(Number(exp) - Number(iat) <= IDENTITY_TOKEN_SECONDS.max);
  } catch {
    return false; // verification refuses it
  }
}

/** True when a token with these claims is one of the user's as its row stands, and not ended. */
export const isTokenOf = (claims: TokenClaims, user: TokenSubject): boolean =>
  claims.accountId === user.accountId &&
  claims.roomId === user.roomId &&
  claims.userId === user.id &&
  claims.iat >= seconds(user.createdAt) &&
  // Compared for equality, and so independent of clocks.
  claims.userEpoch === user.tokenEpoch &&
  claims.accountEpoch === user.accountTokenEpoch &&
  claims.identityEpoch === (user.identityEpoch ?? 0) &&
  (user.identityId === null || user.identityEpoch !== null);

/** Claims of a token that only watches a room: its person is no user of the room, and no one learns of it. */
export const WatchClaims = z.object({
  accountId: z.string(),
  roomId: z.string(),
  /** The person who watches. */
  userId: z.string(),
  /** Epoch seconds. */
  iat: z.int(),
  exp: z.int(),
  accountEpoch: z.int().default(0),
});
export type WatchClaims = z.infer<typeof WatchClaims>;

/** Later than any other token epoch, so that every credential is refused until the restore ends. */
export const RESTORING_EPOCH = Number.MAX_SAFE_INTEGER;

const RETRY_SECONDS = 30;

/** Refusal by the API; sockets use the same words. */
export const beingRestored = (): AppError =>
  new AppError(
    "Accounts",
    "RATE_LIMITED",
    "The organization is being restored from a backup, and is closed until that is complete; try again later",
    RETRY_SECONDS,
  );

/** Refusal of a request whose token ended after its authentication. */
export const tokenEnded = (): AppError =>
  new AppError("Auth", "UNAUTHORIZED", "The token was ended while the request was on its way; get a new one");

/** Throws {@link beingRestored} if this is the token epoch of such an organization. */
export function requireRestored(accountTokenEpoch: number | null | undefined): void {
  if (accountTokenEpoch === RESTORING_EPOCH) throw beingRestored();
}
