/** The context of one dashboard request: what its commands and queries may use. */
import type { Database } from "../platform/d1.ts";
import type { SignInSession } from "./verify-sign-in.ts";

/** A dashboard request, signed in or not. */
export interface DashboardContext {
  readonly db: Database;
  /** The value of the sign-in cookie, not yet verified; null when the request has none. */
  readonly cookie: string | null;
  /** The secret that signs the sign-in cookies. */
  readonly cookieSecret: string;
  /** Epoch milliseconds. */
  now(): number;
  /** A random UUID. */
  newId(): string;
  /** Counts an attempt to prove a password; throws RATE_LIMITED after too many for this subject or client address. */
  limitPasswordAttempts(subject: string): Promise<void>;
}

/** A dashboard request of a person who is signed in. */
export interface PersonContext extends DashboardContext {
  readonly person: SignInSession;
}

/** The result of a dashboard request. */
export interface DashboardResult<Data extends object> {
  readonly data: Data;
  /** The `Set-Cookie` header to send with it. */
  readonly cookie?: string | undefined;
}
