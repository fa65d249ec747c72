/** Whose a token is, and whether it has ended: the reads of a request that comes by one. */
import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { Actor } from "../../platform/d1/context.ts";
import type { Database, Tenant } from "../../platform/d1/d1.ts";
import { narrowedBy, requireOpened } from "../../platform/narrowing.ts";
import {
  type IdentityClaims,
  isTokenOf,
  requireRestored,
  type TokenClaims,
} from "../../platform/token-claims.ts";
import { selectRoom } from "../rooms/statements.ts";
import { selectAccountTokenEpoch, selectBearers, selectIdentityEpoch } from "./statements.ts";
import type { BearerRow } from "./table.ts";

/** The row of a token's user; null unless it still matches the claims. RATE_LIMITED while a restore goes on. */
export async function findTokenBearer(db: Database, claims: TokenClaims): Promise<BearerRow | null> {
  const tenant = { db, accountId: claims.accountId };
  const [[user]] = await db.run([selectBearers(tenant, claims.roomId, "id", [claims.userId])]);
  requireRestored(user?.accountTokenEpoch ?? (await findAccountTokenEpoch(tenant)));
  return user !== undefined && isTokenOf(claims, user) ? user : null;
}

/**
 * The user of an identity's token in a room, as {@link findTokenBearer}. If the token has not ended: NOT_FOUND without the
 * room, FORBIDDEN unless the token is for it and the identity has joined it.
 */
export async function findIdentityBearer(
  db: Database,
  claims: Omit<IdentityClaims, "iat" | "exp">,
  roomId: string,
): Promise<BearerRow | null> {
  const { accountId, identityId } = claims;
  const tenant = { db, accountId };
  const [identities, accounts, [user], [room]] = await db.run([
    selectIdentityEpoch(tenant, identityId),
    selectAccountTokenEpoch(tenant),
    selectBearers(tenant, roomId, "identity", [identityId]),
    selectRoom(tenant, { id: roomId }),
  ]);
  requireRestored(accounts[0]?.tokenEpoch);
  if (!isOfEpochs(claims, [identities, accounts])) return null;
  if (room === undefined) throw notFound("Rooms", "Room");
  requireOpened(claims, room, "token");
  if (user === undefined)
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      "The identity has no user in this room yet: let it join once, or create its user with POST /users and its identityId",
    );
  return user;
}

/** True for an identity's token that has not ended. */
const isOfEpochs = (
  { identityEpoch, accountEpoch }: Pick<IdentityClaims, "identityEpoch" | "accountEpoch">,
  [[identity], [account]]: readonly [
    readonly { readonly epoch: number }[],
    readonly { readonly tokenEpoch: number }[],
  ],
): boolean => identity?.epoch === identityEpoch && account?.tokenEpoch === accountEpoch;

const readEpochs = (tenant: Tenant, identityId: string) =>
  tenant.db.run([selectIdentityEpoch(tenant, identityId), selectAccountTokenEpoch(tenant)]);

/** The identity of a token; null unless it exists, and the token has not ended. RATE_LIMITED while a restore goes on. */
export async function findIdentityActor(db: Database, claims: IdentityClaims): Promise<Actor | null> {
  const { accountId, identityId, accountEpoch, identityEpoch } = claims;
  const found = await readEpochs({ db, accountId }, identityId);
  requireRestored(found[1][0]?.tokenEpoch);
  if (!isOfEpochs(claims, found)) return null;
  const epochs = { identity: identityEpoch, account: accountEpoch };
  return {
    type: "identity",
    accountId,
    identityId,
    isGuest: found[0][0]?.kind === "guest",
    ...narrowedBy(claims),
    epochs,
  };
}

/** Whether a token of an organization, valid by itself, has not ended. RATE_LIMITED while a restore goes on. */
export async function isTokenCurrent(tenant: Tenant, claims: TokenClaims | IdentityClaims): Promise<boolean> {
  if ("identityId" in claims) {
    const found = await readEpochs(tenant, claims.identityId);
    requireRestored(found[1][0]?.tokenEpoch);
    return isOfEpochs(claims, found);
  }
  const [[user]] = await tenant.db.run([selectBearers(tenant, claims.roomId, "id", [claims.userId])]);
  return user !== undefined && isTokenOf(claims, user);
}

/** The token epoch of an organization; 0 for one that is gone, as its users are gone with it. */
export async function findAccountTokenEpoch(tenant: Tenant): Promise<number> {
  const [[row]] = await tenant.db.run([selectAccountTokenEpoch(tenant)]);
  return row?.tokenEpoch ?? 0;
}
