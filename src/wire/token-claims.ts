/** The claims of a user's token, its terms, and its validity. */

import { decodeJwt } from "jose";
import * as z from "zod";
import { AppError } from "../platform/errors.ts";
import { ALL_RIGHTS, Permission, type Rights, rightsIn, rightsOfRole } from "./permissions.ts";
import { Role, type UserRecord } from "./user.ts";

/** The lifetimes of tokens. A lasting one has the longest: from its user's creation, or from the end of earlier tokens. */
export const TOKEN_LIFETIME_SECONDS = { min: 60, max: 90 * 24 * 60 * 60 };

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
  /** Of the identity that the user belongs to. */
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

/** The lifetimes of identities' tokens. */
export const IDENTITY_TOKEN_SECONDS = { min: 60, usual: 15 * 60, max: 24 * 60 * 60 };

const ROOM_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A room in a token: its ID, its custom ID, or the beginning of custom IDs before `*`. An object has a custom ID that
 * looks like one of the others.
 */
const RoomName = z.union([z.string(), z.strictObject({ customId: z.string() })]);
export type RoomName = z.infer<typeof RoomName>;

/** A room as callers name it for a token. */
export type RoomNaming = RoomName | { readonly customIdPrefix: string };

/** The IDs that rooms must have for these names to mean them. */
export const idsIn = (names: readonly RoomNaming[]): string[] =>
  names.filter((name) => typeof name === "string" && ROOM_ID.test(name)) as string[];

/** The name in a token. A text in the form of an ID that none of `ids` is means a custom ID, as it did before. */
export function roomNameOf(name: RoomNaming, ids: readonly string[]): RoomName {
  if (typeof name === "string") return ROOM_ID.test(name) && !ids.includes(name) ? { customId: name } : name;
  if ("customIdPrefix" in name) return `${name.customIdPrefix}*`;
  return ROOM_ID.test(name.customId) || name.customId.endsWith("*") ? name : name.customId;
}

function isNameOf(name: RoomName, { id, customId }: Named): boolean {
  if (typeof name === "object") return name.customId === customId;
  if (ROOM_ID.test(name)) return name === id;
  return name.endsWith("*") ? customId?.startsWith(name.slice(0, -1)) === true : name === customId;
}

interface Named {
  readonly id: string;
  readonly customId: string | null;
}

/** The claims of a token that opens each room as far as its identity has access. It names no groups and gives no rights. */
export const IdentityClaims = z.object({
  accountId: z.string(),
  identityId: z.string(),
  /** Epoch seconds. */
  iat: z.int(),
  exp: z.int(),
  accountEpoch: z.int().default(0),
  identityEpoch: z.int().default(0),
  /** The rooms that it opens. Absent for all. */
  rooms: z.array(RoomName).optional(),
  /** The most that it allows. Absent for everything. */
  permissions: z.array(Permission).optional(),
});
export type IdentityClaims = z.infer<typeof IdentityClaims>;

/** True when an identity's token opens the room. */
export const opensRoom = (
  { rooms }: { readonly rooms?: readonly RoomName[] | undefined },
  room: Named,
): boolean => rooms === undefined || rooms.some((name) => isNameOf(name, room));

/** The most that an identity's token allows. */
export const limitOf = ({ permissions }: Pick<IdentityClaims, "permissions">): Rights =>
  permissions === undefined ? ALL_RIGHTS : rightsIn(permissions);

/** True for a token that lives longer than an identity's can: no address may have it. */
export function isLasting(token: string): boolean {
  try {
    const { iat, exp } = decodeJwt(token);
    return !(Number(exp) - Number(iat) <= IDENTITY_TOKEN_SECONDS.max);
  } catch {
    return false; // it is refused as what it is
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

/** Later than any other token epoch, so that every credential is refused until the restore ends. */
export const RESTORING_EPOCH = Number.MAX_SAFE_INTEGER;

const RETRY_SECONDS = 30;

/** For the API; sockets are refused in the same words. */
export const beingRestored = (): AppError =>
  new AppError(
    "Accounts",
    "RATE_LIMITED",
    "The organization is being restored from a backup, and is closed until that is complete; try again later",
    RETRY_SECONDS,
  );

/** Of a request whose token was valid when it was authenticated. */
export const tokenEnded = (): AppError =>
  new AppError("Auth", "UNAUTHORIZED", "The token was ended while the request was on its way; get a new one");

/** Throws {@link beingRestored} if this is the token epoch of such an organization. */
export function requireRestored(accountTokenEpoch: number | null | undefined): void {
  if (accountTokenEpoch === RESTORING_EPOCH) throw beingRestored();
}
