/** How features declare endpoints of `/dashboard/api`. */
import type * as z from "zod";
import type { Module } from "../../platform/error-codes.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./person-context.ts";

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
