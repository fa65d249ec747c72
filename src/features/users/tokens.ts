/** Signs and verifies the JWTs of users: the lasting one, derived from the user's row so that every read shows it, and short-lived ones. */
import { IDENTITY_TOKEN_SECONDS, TOKEN_LIFETIME_SECONDS } from "@atrium/contract/token-seconds.ts";
import { base64url, decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { JwtSecrets } from "../../platform/config.ts";
import { hex } from "../../platform/crypto/encoding.ts";
import {
  IdentityClaims,
  isPlausible,
  issuedAt,
  TokenClaims,
  type TokenSubject,
  type TokenTerms,
  WatchClaims,
} from "../../platform/token-claims.ts";

/** The keys that sign and verify users' tokens, one for each secret of the deployment. */
interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const encoder = new TextEncoder();

/** Imported keys, kept for the isolate's life, because importing one costs more than signing. */
const keys = new Map<string, Promise<SigningKey>>();

function signingKey(secret: string): Promise<SigningKey> {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = importKey(secret);
  keys.set(secret, key);
  return key;
}

/** The key's ID is a MAC of a constant: it distinguishes secrets and reveals nothing about them. */
async function importKey(secret: string): Promise<SigningKey> {
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode("atrium key id")));
  return { kid: hex(mac.slice(0, 4)), key };
}

/** The types of tokens, as RFC 8725 asks for: no kind is taken for another. */
const USER_TOKEN = "JWT";
const IDENTITY_TOKEN = "atrium-identity+jwt";
const WATCH_TOKEN = "atrium-watch+jwt";

/** Short, so that a person who has left the organization stops watching soon. */
export const WATCH_SECONDS = 300;

/** Ours have some 500 characters: what is much longer is not worth decoding. */
const MAX_TOKEN_LENGTH = 2048;

export type Tokens = ReturnType<typeof tokensFor>;

/**
 * Signs with the first secret and verifies with all of them. Verification pins HS256 and the type, looks up `kid`
 * among the deployment's keys, and bounds the lifetime, so that a leaked secret cannot produce tokens that outlive its
 * rotation by more than that.
 */
export function tokensFor(secrets: JwtSecrets) {
  const signAs = async (typ: string, claims: JWTPayload): Promise<string> => {
    const { kid, key } = await signingKey(secrets[0]);
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ, kid }).sign(key);
  };
  /** The payload of a token of this type; null unless this deployment signed it and it is valid at `now` (epoch ms). */
  const payloadOf = async (given: string, typ: string, now: number): Promise<JWTPayload | null> => {
    try {
      const token = given.trim(); // a file or a copied text ends with a line end
      if (token.length > MAX_TOKEN_LENGTH || !isCanonical(token)) return null;
      const { kid, typ: actual } = decodeProtectedHeader(token);
      if (actual !== typ) return null;
      for (const secret of secrets) {
        const candidate = await signingKey(secret);
        if (candidate.kid !== kid) continue;
        const options = { algorithms: ["HS256"], typ, currentDate: new Date(now) };
        return (await jwtVerify(token, candidate.key, options)).payload;
      }
      return null;
    } catch {
      return null; // jose throws a different error for every kind of invalid token; callers need no distinction
    }
  };
  const signOn = (
    { issuedAt: iat, ttlSeconds, role, narrowed = false }: TokenTerms,
    {
      id: userId,
      accountId,
      roomId,
      tokenEpoch: userEpoch,
      accountTokenEpoch: accountEpoch,
      identityEpoch,
    }: TokenSubject,
  ): Promise<string> =>
    signAs(USER_TOKEN, {
      ...{ accountId, userId, roomId, role },
      ...(narrowed && { narrowed }),
      ...(userEpoch > 0 && { userEpoch }),
      ...(accountEpoch > 0 && { accountEpoch }),
      ...(identityEpoch && { identityEpoch }),
      ...{ iat, exp: iat + ttlSeconds },
    });
  return {
    /** The user's lasting token; the same one every time, until its tokens are ended. */
    sign: (user: TokenSubject): Promise<string> =>
      signOn({ issuedAt: issuedAt(user), ttlSeconds: TOKEN_LIFETIME_SECONDS.max, role: user.role }, user),

    /** A short-lived token of the user; the same one for the same terms. */
    signShortLived: (user: TokenSubject, terms: TokenTerms): Promise<string> => signOn(terms, user),

    signIdentity: ({ accountEpoch, identityEpoch, ...claims }: IdentityClaims): Promise<string> =>
      signAs(IDENTITY_TOKEN, {
        ...claims,
        ...(accountEpoch > 0 && { accountEpoch }),
        ...(identityEpoch > 0 && { identityEpoch }),
      }),

    signWatch: ({ accountEpoch, ...claims }: Omit<WatchClaims, "exp">): Promise<string> =>
      signAs(WATCH_TOKEN, {
        ...claims,
        ...(accountEpoch > 0 && { accountEpoch }),
        exp: claims.iat + WATCH_SECONDS,
      }),

    /** The claims of a token that watches; null unless this deployment signed it and it is valid at `now` (epoch ms). */
    async verifyWatch(token: string, now: number): Promise<WatchClaims | null> {
      return WatchClaims.safeParse(await payloadOf(token, WATCH_TOKEN, now)).data ?? null;
    },

    /** The claims of a user's token; null unless this deployment signed it and it is valid at `now` (epoch ms). */
    async verify(token: string, now: number): Promise<TokenClaims | null> {
      const claims = TokenClaims.safeParse(await payloadOf(token, USER_TOKEN, now)).data;
      return claims !== undefined && isPlausible(claims, TOKEN_LIFETIME_SECONDS, now) ? claims : null;
    },

    /** The same for an identity's token. One that `mayBeOver` was valid at some time. */
    async verifyIdentity(token: string, now: number, mayBeOver = false): Promise<IdentityClaims | null> {
      const payload = await payloadOf(token, IDENTITY_TOKEN, mayBeOver ? 0 : now);
      const claims = IdentityClaims.safeParse(payload).data;
      return claims !== undefined && isPlausible(claims, IDENTITY_TOKEN_SECONDS, now) ? claims : null;
    },
  };
}

/** Base64 leaves bits of the last character unused: of several texts with one signature, only one is the token. */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf(".") + 1);
  return base64url.encode(base64url.decode(signature)) === signature;
};
