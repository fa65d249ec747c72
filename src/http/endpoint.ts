/** What a feature says of one of its endpoints: enough to route, guard, validate, describe and test it. */
import type * as z from "zod";
import type { RequestContext } from "../context/context.ts";
import type { ErrorCode, Module } from "../platform/error-codes.ts";
import type { Form, FormDescription } from "./form/form.ts";
import type { Replay } from "./idempotency/replay.ts";

/** Every path of an organization begins so; an endpoint's own path follows. */
export const ACCOUNT_PATH = "/v1/accounts/:accountId";

/** Who may call: only the organization by a key or a member's session, also a room's user by its JWT, or anyone. */
export type Access = "organization" | "member" | "public";

type Shape = z.ZodObject;

/** The names that stand in a path as `:name`, or at its end as `*name` for all that follows, slashes too. */
type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}` | `${string}*${infer Name}`
    ? Name
    : never;

/** What a handler is given: everything parsed, nothing raw. */
export interface Input<Path extends string, Query, Body> {
  readonly params: Readonly<Record<ParamOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
}

interface Description<C extends RequestContext, Path extends string> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below {@link ACCOUNT_PATH}. */
  readonly path: Path;
  /** Unique; names the operation in the API description. */
  readonly operation: string;
  readonly module: Module;
  readonly access: Access;
  /** One line for the table of contents. */
  readonly summary: string;
  /** Whatever else a caller should know, in Markdown. */
  readonly details?: string;
  /** Refusals beyond those that every endpoint has. */
  readonly errors: readonly ErrorCode[];
  readonly replay?: Replay<C>;
}

/** An endpoint as its feature writes it, with its input and answer typed by its schemas. */
export interface EndpointDefinition<
  C extends RequestContext,
  Path extends string,
  Query extends Shape,
  Body extends z.ZodType,
  Data extends Shape,
> extends Description<C, Path> {
  readonly query?: Query;
  readonly body?: Body;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
  readonly data: Data;
  readonly handle: (ctx: C, input: Input<Path, z.infer<Query>, z.infer<Body>>) => Promise<z.infer<Data>>;
}

/** An endpoint that takes a form instead of JSON, part by part while it comes. */
export interface FormEndpointDefinition<C extends RequestContext, Path extends string, Data extends Shape>
  extends Description<C, Path> {
  readonly form: FormDescription;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
  readonly data: Data;
  readonly handle: (
    ctx: C,
    input: Pick<Input<Path, unknown, unknown>, "params"> & { readonly form: Form },
  ) => Promise<z.infer<Data>>;
}

/** An endpoint whose answer is not an envelope, such as a WebSocket upgrade. */
export interface RawEndpointDefinition<C extends RequestContext, Path extends string>
  extends Description<C, Path> {
  /** The statuses of a success, with what each means. */
  readonly answers: Readonly<Record<number, string>>;
  readonly respond: (ctx: C, input: Input<Path, unknown, unknown>, request: Request) => Promise<Response>;
}

interface ErasedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly form: Form | undefined;
}

/** An endpoint of any shape, as the request pipeline sees it. `C` is what it needs of a request. */
export type Endpoint<C extends RequestContext> = Description<C, string> &
  (
    | {
        readonly kind: "envelope";
        readonly query: Shape | undefined;
        readonly body: z.ZodType | undefined;
        readonly form: FormDescription | undefined;
        readonly status: 200 | 201;
        readonly done: string;
        readonly data: Shape;
        handle(ctx: C, input: ErasedInput): Promise<object>;
      }
    | {
        readonly kind: "raw";
        readonly answers: Readonly<Record<number, string>>;
        respond(ctx: C, input: ErasedInput, request: Request): Promise<Response>;
      }
  );

/** An endpoint for those who describe it and do not call it. */
export type AnyEndpoint = Endpoint<never>;

/** The functions that declare endpoints which need `C` of a request. */
export function endpointsFor<C extends RequestContext>() {
  // The pipeline passes what it parsed with these very schemas: the one place where the types are rejoined.
  return {
    /** Declares an endpoint that answers in the envelope. */
    endpoint<
      const Path extends string,
      Query extends Shape = z.ZodObject<Record<never, never>>,
      Body extends z.ZodType = z.ZodUndefined,
      Data extends Shape = Shape,
    >(definition: EndpointDefinition<C, Path, Query, Body, Data>): Endpoint<C> {
      const { handle, query, body, ...rest } = definition;
      return { ...rest, query, body, form: undefined, kind: "envelope", handle: handle as never };
    },

    /** Declares an endpoint that takes a form and answers in the envelope. */
    formEndpoint<const Path extends string, Data extends Shape>(
      definition: FormEndpointDefinition<C, Path, Data>,
    ): Endpoint<C> {
      const { handle, ...rest } = definition;
      return { ...rest, query: undefined, body: undefined, kind: "envelope", handle: handle as never };
    },

    /** Declares an endpoint that makes its own response. */
    rawEndpoint<const Path extends string>(definition: RawEndpointDefinition<C, Path>): Endpoint<C> {
      const { respond, ...rest } = definition;
      return { ...rest, kind: "raw", respond: respond as never };
    },
  };
}

/** The endpoint's whole path, with its parameters as `pattern` writes them. */
export const pathOf = (
  endpoint: Pick<AnyEndpoint, "path">,
  pattern: { readonly segment: string; readonly rest: string },
): string =>
  (ACCOUNT_PATH + endpoint.path).replaceAll(/:(\w+)/g, pattern.segment).replace(/\*(\w+)$/, pattern.rest);
