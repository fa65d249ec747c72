/** The context of one dashboard request: what its commands and queries may use. */

import type { Database } from "../../platform/d1/d1.ts";
import type { Place } from "../../platform/placement/choose-place.ts";
import type { PlacedTenant } from "../../platform/placement/databases.ts";
import type { QuotaDefaults } from "../../wire/quota.ts";
import type { MailOutbox } from "../mail/outbox.ts";
import type { Challenge } from "./challenge.ts";
import type { SignInLimits } from "./sign-in-limits.ts";
import type { SignUpPolicy } from "./sign-up-policy.ts";
import type { SignInSession } from "./verify-cookie.ts";

/** A dashboard request, signed in or not. */
export interface DashboardContext {
  /** The directory. */
  readonly db: Database;
  /** An organization with its database. */
  tenantOf(accountId: string): PlacedTenant;
  readonly requestId: string;
  /** The caller's address, as the edge reports it. */
  readonly address: string;
  /** The value of the sign-in cookie, not yet verified; null when the request has none. */
  readonly cookie: string | null;
  /** The value of the cookie of a known browser, not yet verified; null when the request has none. */
  readonly browserCookie: string | null;
  /** The secret that signs the cookies. */
  readonly cookieSecret: string;
  /** Epoch milliseconds. */
  now(): number;
  /** A random UUID. */
  newId(): string;
  /** The limits of organizations for which the operator has set none. */
  readonly quotaDefaults: QuotaDefaults;
  /** Who may sign up without an invitation. Throws when it is set wrongly. */
  signUpPolicy(): SignUpPolicy;
  /** A database for a new organization. Throws when it is set wrongly. */
  choosePlace(): Place;
  /** What a person must pass to sign in or up. Throws when it is set wrongly. */
  challenge(): Challenge;
  /** What guessing a password or an invitation costs. */
  readonly limits: SignInLimits;
  /** Null when the deployment sends no mail. Throws when it is set up wrongly. */
  mail(): MailOutbox | null;
  /** Lets work finish after the response is sent. */
  defer(work: Promise<unknown>): void;
}

/** A dashboard request of a person who is signed in. */
export interface PersonContext extends DashboardContext {
  readonly person: SignInSession;
}

/** The result of a dashboard request. */
export interface DashboardResult<Data extends object> {
  readonly data: Data;
  /** The `Set-Cookie` headers to send with it. */
  readonly cookies?: readonly string[];
}
