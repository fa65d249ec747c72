/** The context of a dashboard request, and how features declare endpoints of `/dashboard/api`. */

import type { Module } from "@atrium/contract/errors.ts";
import type { QuotaDefaults } from "@atrium/contract/resources/quota.ts";
import type { SignUpPolicy } from "@atrium/contract/rest/people.ts";
import type * as z from "zod";
import type { jwtSecrets, OidcSettings } from "../../platform/config.ts";
import type { Database } from "../../platform/d1/d1.ts";
import type { PlacedTenant } from "../../platform/d1/databases.ts";
import type { Place } from "../../platform/d1/place.ts";
import type { MailOutbox } from "../mail/outbox.ts";
import type { challengeFor } from "./challenge.ts";
import type { SignInSession } from "./sessions.ts";
import type { SignInLimits } from "./sign-in-limits.ts";

type Challenge = ReturnType<typeof challengeFor>;

/** A dashboard request, signed in or not. Its functions throw when the deployment is set up wrongly. */
export interface DashboardContext {
  readonly db: Database;
  tenantOf(accountId: string): PlacedTenant;
  readonly requestId: string;
  /** The service's own origin. */
  readonly origin: string;
  readonly address: string;
  /** Empty when the request has none. */
  readonly userAgent: string;
  /** The values of the cookies, not yet verified; null when the request has none. */
  readonly cookie: string | null;
  readonly browserCookie: string | null;
  readonly oidcCookie: string | null;
  /** The secret that signs the cookies. */
  readonly cookieSecret: string;
  /** The deployment's secrets, of which the first one is in use: keys of sealed texts are derived from them. */
  jwtSecrets(): ReturnType<typeof jwtSecrets>;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  readonly quotaDefaults: QuotaDefaults;
  signUpPolicy(): SignUpPolicy;
  /** The provider that people sign in by; null without one. */
  oidc(): OidcSettings | null;
  /** Whether people may sign in by passwords. */
  readonly hasPasswords: boolean;
  /** A database for a new organization. */
  choosePlace(): Place;
  challenge(): Challenge;
  readonly limits: SignInLimits;
  /** Null when the deployment sends no mail. */
  mail(): MailOutbox | null;
  /** Lets work finish after the response is sent. */
  defer(work: Promise<unknown>): void;
}

/** What a deployment offers to sign in by. */
export type WaysToSignIn = Pick<DashboardContext, "hasPasswords" | "oidc">;

export interface PersonContext extends DashboardContext {
  readonly person: SignInSession;
}

export interface DashboardResult<Data extends object> {
  readonly data: Data;
  /** The `Set-Cookie` headers to send with it. */
  readonly cookies?: readonly string[];
}

interface Description {
  readonly method: "GET" | "POST" | "PATCH";
  /** Path below `/dashboard/api`. */
  readonly path: string;
  readonly module: Module;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
}

/** An endpoint as its feature declares it, with the input typed by its schema. */
interface Definition<C, Body>
  extends Omit<Description, "module" | "status">,
    Partial<Pick<Description, "module" | "status">> {
  readonly body?: z.ZodType<Body>;
  readonly handle: (
    ctx: C,
    input: { readonly params: Readonly<Record<string, string>>; readonly body: Body },
  ) => Promise<DashboardResult<object>>;
}

/** An endpoint as the pipeline sees it. */
export interface DashboardEndpoint extends Description {
  readonly access: "anyone" | "person";
  readonly body: z.ZodType | undefined;
  /** The pipeline passes the context that `access` says, and input parsed by `body`. */
  readonly handle: (ctx: never, input: never) => Promise<DashboardResult<object>>;
}

const declaring =
  <C extends DashboardContext>(access: DashboardEndpoint["access"]) =>
  <Body>({ body, ...rest }: Definition<C, Body>): DashboardEndpoint => ({
    module: "Auth",
    status: 200,
    ...rest,
    access,
    body,
  });

/** Declares an endpoint that needs no sign-in session; by default, of the module "Auth" with the status 200. */
export const publicEndpoint = declaring<DashboardContext>("anyone");

/** Declares an endpoint for signed-in people, with the same defaults. */
export const personEndpoint = declaring<PersonContext>("person");
