/** The context of one dashboard request: what its commands and queries may use. */
import type * as z from "zod";
import type { Database } from "../../platform/d1/d1.ts";
import type { PlacedTenant } from "../../platform/d1/databases.ts";
import type { Place } from "../../platform/d1/place.ts";
import type { Module } from "../../platform/errors.ts";
import type { QuotaDefaults } from "../../wire/quota.ts";
import type { MailOutbox } from "../mail/outbox.ts";
import type { Challenge } from "./challenge.ts";
import type { SignInSession } from "./sessions.ts";
import type { SignInLimits } from "./sign-in-limits.ts";
import type { SignUpPolicy } from "./sign-up-policy.ts";

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

interface Input<Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
}

interface Description {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below `/dashboard/api`. */
  readonly path: string;
  readonly module: Module;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
}

/** An endpoint as its feature declares it, with the input typed by its schema. */
interface DashboardEndpointDefinition<V extends DashboardContext, Body, Data extends object>
  extends Description {
  readonly body?: z.ZodType<Body>;
  readonly handle: (ctx: V, input: Input<Body>) => Promise<DashboardResult<Data>>;
}

/** An endpoint as the pipeline sees it. */
export type DashboardEndpoint = Description & {
  readonly body: z.ZodType | undefined;
} & (
    | {
        readonly access: "anyone";
        handle(ctx: DashboardContext, input: Input<unknown>): Promise<DashboardResult<object>>;
      }
    | {
        readonly access: "person";
        handle(ctx: PersonContext, input: Input<unknown>): Promise<DashboardResult<object>>;
      }
  );

// The pipeline passes input parsed by the endpoint's own schema, so erasing the types here is safe.

/** Declares an endpoint that needs no sign-in session. */
export const publicEndpoint = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DashboardEndpointDefinition<DashboardContext, Body, Data>): DashboardEndpoint => ({
  ...rest,
  access: "anyone",
  body,
  handle: handle as never,
});

/** Declares an endpoint for signed-in people. */
export const personEndpoint = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DashboardEndpointDefinition<PersonContext, Body, Data>): DashboardEndpoint => ({
  ...rest,
  access: "person",
  body,
  handle: handle as never,
});
