/** The JWTs of users. They are derived from the user's row, so that every read shows the token of its creation. */
import { base64url, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { JwtSecrets } from "../config.ts";
import { hex } from "../platform/hash.ts";
import { Role } from "./schema.ts";
import type { UserRow } from "./table.ts";

/** A token expires this long after its user's creation (spec section 5). */
export const TOKEN_LIFETIME_SECONDS = 90 * 24 * 60 * 60;

/** How far the clocks of two machines may differ before a token counts as issued in the future. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** The claims of a user's token. */
export const TokenClaims = z.object({
  accountId: z.string(),
  userId: z.string(),
  roomId: z.string(),
  role: Role,
  /** The user's creation, epoch seconds. */
  iat: z.int(),
  /** {@link TOKEN_LIFETIME_SECONDS} later, epoch seconds. */
  exp: z.int(),
});
export type TokenClaims = z.infer<typeof TokenClaims>;

/** The columns of a user's row that its token is derived from. */
export type TokenSubject = Pick<UserRow, "id" | "accountId" | "roomId" | "role" | "createdAt">;

/** Signs and verifies the tokens of one deployment. */
export interface Tokens {
  /** The user's token; the same one every time. */
  sign(user: TokenSubject): Promise<string>;
  /** The claims of a token; null unless this deployment signed it and it is valid at `now` (epoch ms). */
  verify(token: string, now: number): Promise<TokenClaims | null>;
}

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

/**
 * Signs with the first secret and verifies with all of them. Verification pins HS256 and the type, looks up `kid`
 * among the deployment's keys, and requires the exact lifetime, so that a leaked secret cannot produce tokens that
 * outlive its rotation.
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
        return null; // jose throws a different error for every kind of invalid token; callers need no distinction
      }
    },
  };
}

/**
 * True when the signature is encoded the way {@link Tokens.sign} encodes it. Base64 leaves bits of the last character
 * unused, so that several texts decode to the same signature; only one of them is the token.
 */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf(".") + 1);
  return base64url.encode(base64url.decode(signature)) === signature;
};

/** True when the claims match the user's row: a token outlives neither its user nor a change of role. */
export const isTokenOf = (claims: TokenClaims, user: TokenSubject): boolean =>
  claims.accountId === user.accountId &&
  claims.roomId === user.roomId &&
  claims.userId === user.id &&
  claims.role === user.role &&
  claims.iat === Math.floor(user.createdAt / 1000);
