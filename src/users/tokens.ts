/** The users' JWTs: derived from the user's row, so that reading a user shows the very token it was given. */
import { base64url, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { JwtSecrets } from "../config.ts";
import { hex } from "../platform/hash.ts";
import { Role } from "./schema.ts";
import type { UserRow } from "./table.ts";

/** How long a token is valid, counted from its user's creation (spec section 5). */
export const TOKEN_LIFETIME_SECONDS = 90 * 24 * 60 * 60;

/** The clocks of two machines may differ by this much before a token counts as made in the future. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** What a token says of its bearer. */
export const TokenClaims = z.object({
  accountId: z.string(),
  userId: z.string(),
  roomId: z.string(),
  role: Role,
  /** Seconds: the user's creation. */
  iat: z.int(),
  /** Seconds: {@link TOKEN_LIFETIME_SECONDS} later. */
  exp: z.int(),
});
export type TokenClaims = z.infer<typeof TokenClaims>;

/** A token's fields in the row of its user. */
export type TokenSubject = Pick<UserRow, "id" | "accountId" | "roomId" | "role" | "createdAt">;

/** Signs and verifies the tokens of one deployment. */
export interface Tokens {
  /** The user's token: the same one each time. */
  sign(user: TokenSubject): Promise<string>;
  /** The claims of a token that this deployment signed and that is valid at `now` (epoch ms); else null. */
  verify(token: string, now: number): Promise<TokenClaims | null>;
}

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const encoder = new TextEncoder();

/** Imported keys, kept for the isolate's life: importing on each request would cost more than signing. */
const keys = new Map<string, Promise<SigningKey>>();

function signingKey(secret: string): Promise<SigningKey> {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = importKey(secret);
  keys.set(secret, key);
  return key;
}

/** The key's name is a MAC of a constant: it tells secrets apart and says nothing about them. */
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

/**
 * Tokens under the given secrets: the first signs, all verify.
 * Verification pins HS256 and the type, finds the key by `kid` among our own, and wants the lifetime to be
 * exactly ours, so that not even a leaked secret makes a token that outlives its rotation unnoticed.
 */
export function tokensFor(secrets: JwtSecrets): Tokens {
  return {
    async sign(user) {
      const { kid, key } = await signingKey(secrets[0]);
      const iat = Math.floor(user.createdAt / 1000);
      return new SignJWT({ accountId: user.accountId, userId: user.id, roomId: user.roomId, role: user.role })
        .setProtectedHeader({ alg: "HS256", typ: "JWT", kid })
        .setIssuedAt(iat)
        .setExpirationTime(iat + TOKEN_LIFETIME_SECONDS)
        .sign(key);
    },

    async verify(token, now) {
      try {
        if (!isCanonical(token)) return null;
        const { kid } = decodeProtectedHeader(token);
        for (const secret of secrets) {
          const candidate = await signingKey(secret);
          if (candidate.kid !== kid) continue;
          const { payload } = await jwtVerify(token, candidate.key, {
            algorithms: ["HS256"],
            typ: "JWT",
            currentDate: new Date(now),
          });
          const claims = TokenClaims.safeParse(payload).data;
          const plausible =
            claims !== undefined &&
            claims.exp - claims.iat === TOKEN_LIFETIME_SECONDS &&
            claims.iat <= now / 1000 + CLOCK_TOLERANCE_SECONDS;
          return plausible ? claims : null;
        }
        return null;
      } catch {
        return null; // jose throws for each of the many ways in which a token can be bad: to us they are one
      }
    },
  };
}

/**
 * True when the last part is spelt the only way that {@link Tokens.sign} spells it: Base64 leaves bits unused
 * in its last character, so several texts decode to one signature, and a token must have one text only.
 */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf(".") + 1);
  return base64url.encode(base64url.decode(signature)) === signature;
};

/** True when the claims are those of this very user: a token outlives neither its user nor a change of role. */
export const isTokenOf = (claims: TokenClaims, user: TokenSubject): boolean =>
  claims.accountId === user.accountId &&
  claims.roomId === user.roomId &&
  claims.userId === user.id &&
  claims.role === user.role &&
  claims.iat === Math.floor(user.createdAt / 1000);
