/** better-auth as we use it: passwords and sessions, on our tables, behind our own doors. Loaded when needed. */
import { betterAuth } from "better-auth/minimal";
import type { Database } from "../../platform/d1.ts";
import { hashPassword, verifyPassword } from "../password.ts";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "../schema.ts";
import { COOKIE_NAME, SIGN_IN_LIFETIME_MS, SIGN_IN_RENEWAL_MS } from "../sign-in-cookie.ts";
import { openUnitOfWork } from "./adapter.ts";

export interface AuthPorts {
  readonly db: Database;
  /** Our own, as in `https://atrium.example`. */
  readonly origin: string;
  /** Signs cookies. */
  readonly secret: string;
  /** The id of a person who signs up. */
  readonly newPersonId: string;
}

const SECOND_MS = 1000;

/** The library for one request, and what it wants written. */
export function openAuth({ db, origin, secret, newPersonId }: AuthPorts) {
  const { adapter, writes } = openUnitOfWork(db);
  const auth = betterAuth({
    database: adapter,
    baseURL: origin,
    secret,
    user: { modelName: "people" },
    account: {
      modelName: "credentials",
      fields: { userId: "personId", accountId: "providerAccountId" },
    },
    session: {
      modelName: "sessions",
      fields: { userId: "personId", token: "tokenHash" },
      expiresIn: SIGN_IN_LIFETIME_MS / SECOND_MS,
      updateAge: SIGN_IN_RENEWAL_MS / SECOND_MS,
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      // The library counts UTF-16 units, of which a character has up to two; we have counted characters.
      maxPasswordLength: 2 * MAX_PASSWORD_LENGTH,
      password: { hash: hashPassword, verify: ({ password, hash }) => verifyPassword(password, hash) },
    },
    advanced: {
      // The prefix that the library would add is the weaker one of the two that browsers know.
      useSecureCookies: false,
      cookies: {
        session_token: {
          name: COOKIE_NAME,
          attributes: { secure: true, httpOnly: true, sameSite: "strict", path: "/" },
        },
      },
      database: {
        generateId: ({ model }) => (model === "user" ? newPersonId : crypto.randomUUID()),
        joins: true,
        validateSchema: false,
      },
      ipAddress: { disableIpTracking: true },
    },
    // Our own doors count requests and check where they come from.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  });
  return { api: auth.api, writes };
}
