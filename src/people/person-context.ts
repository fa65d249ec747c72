/** What one request of a dashboard's page carries through commands and queries, as `Ctx` does for the API's. */
import type { Database } from "../platform/d1.ts";
import type { SignInSession } from "./verify-sign-in.ts";

/** A request of whoever looks at the dashboard. */
export interface DashboardContext {
  readonly db: Database;
  /** Our own, as in `https://atrium.example`. */
  readonly origin: string;
  /** The session cookie as it was sent, good or not; null when there is none. */
  readonly cookie: string | null;
  /** What sessions' cookies are signed with. */
  readonly cookieSecret: string;
  /** Epoch milliseconds. */
  now(): number;
  /** A random UUID. */
  newId(): string;
  /** Counts a try to prove by password who one is; RATE_LIMITED when there were too many. */
  countPasswordTry(whom: string): Promise<void>;
}

/** A request of somebody who is signed in. */
export interface PersonContext extends DashboardContext {
  readonly person: SignInSession;
}

/** What a visit comes to. */
export interface DashboardResult<Data extends object> {
  readonly data: Data;
  /** The session cookie to set, as `Set-Cookie` has it. */
  readonly cookie?: string | undefined;
}
